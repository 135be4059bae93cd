-- The values look random, and each load fills the same.

INSERT INTO pairs (id, value)
SELECT
    number,
    1 + number * 7919 % 10000
FROM generate_series(1, 10000) AS number;

INSERT INTO proverbs (id, words)
VALUES
    (1, 'A stopped clock is right twice a day.'),
    (2, 'Measure twice, cut once.'),
    (3, 'One swallow does not make a summer.'),
    (4, 'Where there is smoke, there is fire.'),
    (5, 'Slow and steady wins the race.'),
    (6, 'The proof of the pudding is in the eating.'),
    (7, 'Many a little makes a mickle.'),
    (8, 'Qui va lentement va sûrement.'),
    (9, '急がば回れ'),
    (10, 'A "good" name <b>shines</b> & lasts.'),
    (11, 'Still waters run deep.'),
    (12, 'It never rains but it pours.');
