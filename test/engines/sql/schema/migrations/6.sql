-- sqlite
create table holdfast_ends (
    key_id integer not null,
    number integer not null,
    body text not null,
    primary key (key_id, number)
  );
update holdfast_keys set ended_count = 0;
alter table holdfast_keys drop column ended;
drop index holdfast_holds_lease;
drop index holdfast_history_to;
drop index holdfast_events_at;
drop index holdfast_holds_session;
create index holdfast_holds_session on holdfast_holds (session) where session is not null;

-- postgres
create table holdfast_ends (
    key_id bigint not null,
    number bigint not null,
    body text not null,
    primary key (key_id, number)
  );
update holdfast_keys set ended_count = 0;
alter table holdfast_keys drop column ended;
drop index holdfast_holds_lease;
drop index holdfast_history_to;
drop index holdfast_events_at;
drop index holdfast_holds_session;
create index holdfast_holds_session on holdfast_holds (session) where session is not null;

-- mysql
create table holdfast_ends (
    key_id bigint not null,
    number bigint not null,
    body mediumtext character set utf8mb4 collate utf8mb4_bin not null,
    primary key (key_id, number)
  ) engine=InnoDB;
update holdfast_keys set ended_count = 0;
alter table holdfast_keys drop column ended;
drop index holdfast_holds_lease on holdfast_holds;
drop index holdfast_history_to on holdfast_history;
drop index holdfast_events_at on holdfast_events;
