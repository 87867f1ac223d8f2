-- sqlite
create table holdfast_servers (
    process text not null primary key,
    name text not null,
    law text not null,
    due_at_ms integer not null
  );

-- postgres
create table holdfast_servers (
    process text collate "C" not null primary key,
    name text not null,
    law text not null,
    due_at_ms bigint not null
  );

-- mysql
create table holdfast_servers (
    process varchar(64) character set ascii collate ascii_bin not null primary key,
    name mediumtext character set utf8mb4 collate utf8mb4_bin not null,
    law mediumtext character set utf8mb4 collate utf8mb4_bin not null,
    due_at_ms bigint not null
  ) engine=InnoDB;
