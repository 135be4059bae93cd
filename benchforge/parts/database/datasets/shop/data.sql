-- Names and prices are made up; each load fills the same rows. member7 has the password secret-7.

INSERT INTO products (id, name, price, about)
SELECT
    number,
    'Lamp no. ' || number,
    100 + number * 7919 % 20000,
    repeat('A lamp that lights. ', 5 + number % 20)
FROM generate_series(1, 5000) AS number;

INSERT INTO members (id, name, password_sha256)
SELECT
    number,
    'member' || number,
    encode(sha256(convert_to('secret-' || number, 'UTF8')), 'hex')
FROM generate_series(1, 200) AS number;
