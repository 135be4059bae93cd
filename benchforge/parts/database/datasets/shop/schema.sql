-- A shop: what it sells, who may buy, who is logged in, what is in carts, and what was bought.

CREATE TABLE products (
    id integer PRIMARY KEY,
    name text NOT NULL,
    price integer NOT NULL,  -- in cents
    about text NOT NULL
);

CREATE TABLE members (
    id integer PRIMARY KEY,
    name text NOT NULL UNIQUE,
    password_sha256 text NOT NULL
);

CREATE TABLE visits (
    token text PRIMARY KEY,
    member_id integer NOT NULL REFERENCES members
);

CREATE TABLE carts (
    id serial PRIMARY KEY,
    member_id integer NOT NULL REFERENCES members,
    product_id integer NOT NULL REFERENCES products,
    quantity integer NOT NULL,
    total integer NOT NULL
);

CREATE TABLE orders (
    id serial PRIMARY KEY,
    member_id integer NOT NULL REFERENCES members,
    product_id integer NOT NULL REFERENCES products,
    quantity integer NOT NULL,
    total integer NOT NULL
);

CREATE INDEX orders_of_member ON orders (member_id, id);
