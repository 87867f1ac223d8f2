/**
 * Everything that can go wrong in a simulation. Each seed enables a part of it: a fault that hides
 * another one is absent often enough for the other to be seen.
 *
 * Of messages: `delay` (a long tail), `reorder` (they overtake each other), `drop-request`,
 * `drop-answer` (nobody is told), `duplicate`, `reset` (the connection breaks after the request was
 * processed and before its answer arrived). Of connections: `disconnect`, `half-open` (one direction
 * is silent for a while), `partition` (every link is cut, and they come back in another order).
 *
 * Of clients: `pause` (nothing of it runs), `client-crash`, `clock-rate` (its clock runs up to 0.9 %
 * fast or slow), `wall-jump`. Of the engine: `engine-pause`, `power-loss` (what was not synced is kept, lost or torn),
 * `disk-crash` (the same in the middle of an operation of the disk), `kill` (the files stay as they
 * look), `restart` (closed and opened again). Of its disk: `disk-full`, `disk-error`, `slow-sync`.
 */
export const FAULT_KINDS = [
  'delay',
  'reorder',
  'drop-request',
  'drop-answer',
  'duplicate',
  'reset',
  'disconnect',
  'half-open',
  'partition',
  'pause',
  'client-crash',
  'clock-rate',
  'wall-jump',
  'engine-pause',
  'power-loss',
  'disk-crash',
  'kill',
  'restart',
  'disk-full',
  'disk-error',
  'slow-sync',
] as const

export type FaultKind = (typeof FAULT_KINDS)[number]

export function isFaultKind(name: string): name is FaultKind {
  return (FAULT_KINDS as readonly string[]).includes(name)
}
