-- sqlite
create table holdfast_ends (
    key_id integer not null,
    number integer not null,
    body text not null,
    primary key (key_id, number)
  );
update holdfast_keys set ended_count = 0;
alter table holdfast_keys drop column ended;

-- postgres
create table holdfast_ends (
    key_id bigint not null,
    number bigint not null,
    body text not null,
    primary key (key_id, number)
  );
update holdfast_keys set ended_count = 0;
alter table holdfast_keys drop column ended;

-- mysql
create table holdfast_ends (
    key_id bigint not null,
    number bigint not null,
    body mediumtext character set utf8mb4 collate utf8mb4_bin not null,
    primary key (key_id, number)
  ) engine=InnoDB;
update holdfast_keys set ended_count = 0;
alter table holdfast_keys drop column ended;
