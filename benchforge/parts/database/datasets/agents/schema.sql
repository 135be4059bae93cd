-- The two tables of study AH: who the agents are, and which of them are logged in.

CREATE TABLE agentfeatures (
    id serial PRIMARY KEY,
    numgroup integer NOT NULL,
    firstname varchar(128) NOT NULL DEFAULT '',
    lastname varchar(128) NOT NULL DEFAULT '',
    number varchar(40) NOT NULL UNIQUE,
    passwd varchar(128) NOT NULL,
    context varchar(39) NOT NULL,
    language varchar(20) NOT NULL,
    autologoff integer,
    "group" varchar(255),
    description text NOT NULL,
    preprocess_subroutine varchar(40)
);

-- No foreign key: the study had none, and one would add nothing to the query.
CREATE TABLE agent_login_status (
    agent_id integer PRIMARY KEY,
    agent_number varchar(40) NOT NULL,
    extension varchar(80) NOT NULL,
    context varchar(80) NOT NULL,
    interface varchar(128) NOT NULL UNIQUE,
    state_interface varchar(128) NOT NULL,
    login_at timestamp NOT NULL DEFAULT now(),
    UNIQUE (extension, context)
);
