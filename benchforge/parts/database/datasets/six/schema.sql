-- What six kinds of requests read and write: rows that are found by their key, and a short list.

CREATE TABLE pairs (
    id integer PRIMARY KEY,
    value integer NOT NULL
);

CREATE TABLE proverbs (
    id integer PRIMARY KEY,
    words text NOT NULL
);
