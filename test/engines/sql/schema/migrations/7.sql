-- sqlite
alter table holdfast_refs add column claim_by_ms integer;

-- postgres
alter table holdfast_refs add column claim_by_ms bigint;

-- mysql
alter table holdfast_refs add column claim_by_ms bigint;
