-- sqlite
update holdfast_keys set ended = null, ended_count = 0;

-- postgres
update holdfast_keys set ended = null, ended_count = 0;

-- mysql
update holdfast_keys set ended = null, ended_count = 0;
