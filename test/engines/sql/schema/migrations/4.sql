-- sqlite

-- postgres

-- mysql
insert into holdfast_state (id, floor, watched_until_ms) values (2, 0, 0);
