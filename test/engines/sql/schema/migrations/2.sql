-- sqlite
create view holdfast_holders as
    select
      k.space as space,
      k.name as name,
      h.owner as owner,
      case when h.writes > 0 then 'write' else 'read' end as mode,
      h.token as token,
      strftime('%Y-%m-%d %H:%M:%f', (h.since_ms) / 1000.0, 'unixepoch') as held_since,
      strftime('%Y-%m-%d %H:%M:%f', (h.lease_at_ms) / 1000.0, 'unixepoch') as held_until,
      h.session as session
    from holdfast_holds h join holdfast_keys k on k.id = h.key_id
    where h.lease_at_ms > cast((julianday('now') - 2440587.5) * 86400000 as integer);

-- postgres
create or replace view holdfast_holders as
    select
      k.space as space,
      k.name as name,
      h.owner as owner,
      case when h.writes > 0 then 'write' else 'read' end as mode,
      h.token as token,
      to_timestamp((h.since_ms) / 1000.0) as held_since,
      to_timestamp((h.lease_at_ms) / 1000.0) as held_until,
      h.session as session
    from holdfast_holds h join holdfast_keys k on k.id = h.key_id
    where h.lease_at_ms > floor(extract(epoch from clock_timestamp()) * 1000);

-- mysql
create or replace sql security invoker view holdfast_holders as
    select
      k.space as space,
      convert(k.name using utf8mb4) collate utf8mb4_bin as name,
      convert(h.owner using utf8mb4) collate utf8mb4_bin as owner,
      case when h.writes > 0 then 'write' else 'read' end as mode,
      h.token as token,
      cast(timestampadd(microsecond, (h.since_ms) * 1000, '1970-01-01 00:00:00') as datetime(3)) as held_since,
      cast(timestampadd(microsecond, (h.lease_at_ms) * 1000, '1970-01-01 00:00:00') as datetime(3)) as held_until,
      convert(h.session using utf8mb4) collate utf8mb4_bin as session
    from holdfast_holds h join holdfast_keys k on k.id = h.key_id
    where h.lease_at_ms > timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(3)) div 1000;
