"""A row of the agents of study AH, and the query; imported once Django's settings are there."""

from django.db import models

QUERY = """
    SELECT af.number, als.extension, als.context, als.state_interface,
           'offline' AS status, '-1' AS extension_status, '0' AS paused
    FROM agentfeatures AS af LEFT JOIN agent_login_status AS als ON af.id = als.agent_id
"""


class Agent(models.Model):
    """A row of agentfeatures; the order of the fields is the order in the body."""

    id = models.AutoField(primary_key=True)
    numgroup = models.IntegerField()
    firstname = models.CharField(max_length=128)
    lastname = models.CharField(max_length=128)
    number = models.CharField(max_length=40, unique=True)
    passwd = models.CharField(max_length=128)
    context = models.CharField(max_length=39)
    language = models.CharField(max_length=20)
    autologoff = models.IntegerField(null=True)
    group = models.CharField(max_length=255, null=True)
    description = models.TextField()
    preprocess_subroutine = models.CharField(max_length=40, null=True)

    class Meta:
        app_label = "agents"
        db_table = "agentfeatures"
        managed = False
