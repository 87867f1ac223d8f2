import { partitionBy } from '../linearizability.ts'
import type { Evidence } from './evidence.ts'
import type { BeliefWindow, Hold } from './holds.ts'
import type { Violation } from './violation.ts'

interface OwnedWindow extends BeliefWindow {
  readonly hold: Hold
}

/** At no instant do two owners rely on the same key, unless both read. */
export function checkExclusion({ holds }: Evidence): Violation[] {
  const windows = holds
    .flatMap((hold) => hold.windows.map((window): OwnedWindow => ({ ...window, hold })))
    .sort((a, b) => a.from - b.from)
  const bySubject = partitionBy(windows, ({ hold }) => hold.subject)
  return [...bySubject.values()].flatMap(checkWindows)
}

// Sorted by their beginning, a window can only overlap those that are still open at its own.
function checkWindows(windows: readonly OwnedWindow[]): Violation[] {
  const violations: Violation[] = []
  let open: OwnedWindow[] = []
  for (const window of windows) {
    open = open.filter((other) => other.until > window.from)
    for (const other of open) {
      if (isConflict(other, window)) violations.push(toViolation(other, window))
    }
    open.push(window)
  }
  return violations
}

function isConflict(one: OwnedWindow, other: OwnedWindow): boolean {
  if (one.hold.owner === other.hold.owner) return false
  return one.mode === 'write' || other.mode === 'write'
}

function toViolation(first: OwnedWindow, second: OwnedWindow): Violation {
  const until = Math.min(first.until, second.until)
  return {
    property: 'exclusion',
    message:
      `${first.hold.subject}: ${describe(first)} and ${describe(second)} ` +
      `both rely on it from ${second.from} to ${until}`,
    entries: [first.opener.answer, second.opener.answer],
  }
}

function describe({ hold, mode, token }: OwnedWindow): string {
  return `${hold.owner} (${mode}, token ${token ?? 'unknown'})`
}
