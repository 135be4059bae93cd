-- The endpoint asks as nobody: 1 is to read, 2 to write. Nothing else is open, or a graph of its own
-- could not be given less.
DB.DBA.RDF_DEFAULT_USER_PERMS_SET('nobody', 0);
DB.DBA.RDF_GRAPH_USER_PERMS_SET('http://graph-uri', 'nobody', 3);
GRANT SPARQL_UPDATE TO "SPARQL";
