-- sqlite
create view workflow_locks as
    select
      k.name as lock_key,
      h.owner as owner,
      case when h.meta like '{"type":"%"}' and h.meta not like '{"type":"%"%"}'
        then replace(substr(h.meta, 10), '"}', '') end as lock_type,
      strftime('%Y-%m-%d %H:%M:%f', (h.lease_at_ms) / 1000.0, 'unixepoch') as expires_at,
      strftime('%Y-%m-%d %H:%M:%f', (h.since_ms) / 1000.0, 'unixepoch') as created_at,
      strftime('%Y-%m-%d %H:%M:%f', (h.lease_at_ms - h.ttl_ms) / 1000.0, 'unixepoch') as updated_at
    from holdfast_holds h join holdfast_keys k on k.id = h.key_id
    where k.space = 'lock' and h.lease_at_ms > cast((julianday('now') - 2440587.5) * 86400000 as integer);
create table workflow_assignments (id text not null, lock_key text not null, owner text not null, lock_type text not null, token bigint not null, assigned_at text not null, expires_at text not null, renewals bigint not null default 0, ended_at text, ended_as text, primary key (id, assigned_at));
create index workflow_assignments_key on workflow_assignments (lock_key, ended_at);
create index workflow_assignments_owner on workflow_assignments (owner, assigned_at);
create index workflow_assignments_open on workflow_assignments (ended_at, expires_at);

-- postgres
create or replace view workflow_locks as
    select
      k.name as lock_key,
      h.owner as owner,
      case when h.meta like '{"type":"%"}' and h.meta not like '{"type":"%"%"}'
        then replace(substr(h.meta, 10), '"}', '') end as lock_type,
      to_timestamp((h.lease_at_ms) / 1000.0) as expires_at,
      to_timestamp((h.since_ms) / 1000.0) as created_at,
      to_timestamp((h.lease_at_ms - h.ttl_ms) / 1000.0) as updated_at
    from holdfast_holds h join holdfast_keys k on k.id = h.key_id
    where k.space = 'lock' and h.lease_at_ms > floor(extract(epoch from clock_timestamp()) * 1000);
create table workflow_assignments (id text collate "C" not null, lock_key text collate "C" not null, owner text collate "C" not null, lock_type text collate "C" not null, token bigint not null, assigned_at timestamptz(3) not null, expires_at timestamptz(3) not null, renewals bigint not null default 0, ended_at timestamptz(3), ended_as text collate "C", primary key (id, assigned_at)) partition by range (assigned_at);
create index workflow_assignments_key on workflow_assignments (lock_key, ended_at);
create index workflow_assignments_owner on workflow_assignments (owner, assigned_at);
create index workflow_assignments_open on workflow_assignments (ended_at, expires_at);
create table workflow_assignments_later partition of workflow_assignments default;

-- mysql
create or replace sql security invoker view workflow_locks as
    select
      convert(k.name using utf8mb4) collate utf8mb4_bin as lock_key,
      convert(h.owner using utf8mb4) collate utf8mb4_bin as owner,
      case when h.meta like '{"type":"%"}' and h.meta not like '{"type":"%"%"}'
        then replace(substr(h.meta, 10), '"}', '') end as lock_type,
      cast(timestampadd(microsecond, (h.lease_at_ms) * 1000, '1970-01-01 00:00:00') as datetime(3)) as expires_at,
      cast(timestampadd(microsecond, (h.since_ms) * 1000, '1970-01-01 00:00:00') as datetime(3)) as created_at,
      cast(timestampadd(microsecond, (h.lease_at_ms - h.ttl_ms) * 1000, '1970-01-01 00:00:00') as datetime(3)) as updated_at
    from holdfast_holds h join holdfast_keys k on k.id = h.key_id
    where k.space = 'lock' and h.lease_at_ms > timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(3)) div 1000;
create table workflow_assignments (id varchar(256) character set utf8mb4 collate utf8mb4_bin not null, lock_key varchar(512) character set utf8mb4 collate utf8mb4_bin not null, owner varchar(256) character set utf8mb4 collate utf8mb4_bin not null, lock_type varchar(64) character set utf8mb4 collate utf8mb4_bin not null, token bigint not null, assigned_at datetime(3) not null, expires_at datetime(3) not null, renewals bigint not null default 0, ended_at datetime(3), ended_as varchar(64) character set utf8mb4 collate utf8mb4_bin, primary key (id, assigned_at)) engine=InnoDB partition by range columns (assigned_at) (
          partition later values less than (maxvalue));
create index workflow_assignments_key on workflow_assignments (lock_key, ended_at);
create index workflow_assignments_owner on workflow_assignments (owner, assigned_at);
create index workflow_assignments_open on workflow_assignments (ended_at, expires_at);
