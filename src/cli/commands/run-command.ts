import type { CliCommand } from '../cli-command.ts'
import { CONNECTION_HELP } from '../connection-options.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { parseRunTerms } from '../run/run-terms.ts'
import { RunUnderLock } from '../run/run-under-lock.ts'

const HELP_WITHOUT_JSON = CONNECTION_HELP.split('\n').slice(0, -1).join('\n')

export const runCommand: CliCommand = {
  help: `Usage: holdfast run KEY [options] -- command…

Acquire a lock, run a command while it is held, release it. The command is started only when the
lock is granted, and the lock is released only when the command and all that it started have ended.

  --wait TIME         give up after this long, as in 30s; 0 does not wait. Default: wait for ever
  --ttl TIME          how long the lock outlives a runner that is not heard of (10s)
  --mode MODE         "write" (exclusive, the default) or "read" (shared with other readers)
  --owner NAME        the first part of the name that others see; a random part follows
  --lane LANE         the lane to queue in, where the server has lanes
  --grace TIME        between SIGTERM and SIGKILL when the command has to go (10s). Where the lease
                      is about to end: a tenth of --ttl at most, before that end
${HELP_WITHOUT_JSON}

The command runs in a process group of its own, with the same standard streams and with
  HOLDFAST_TOKEN   the fencing token: pass it to what the lock protects
  HOLDFAST_KEY  HOLDFAST_OWNER  HOLDFAST_SERVER

Signals (INT, TERM, HUP, QUIT) end the wait, and are passed to the whole group while it runs. If
the lock is lost, or its lease is about to end, the group is stopped before another can be granted
it.

Exit code: the command's own; 128+n if signal n ended it; ${EXIT_CODES.notAcquired.code} if the lock was not acquired; ${EXIT_CODES.lost.code} if
it was lost; ${EXIT_CODES.unavailable.code} if the server cannot be reached; ${EXIT_CODES.usage.code} for a wrong command line; 126 and 127 as in
a shell.

Examples:
  holdfast run nightly-report --wait 0 -- ./report.sh        # skip it if it runs elsewhere
  holdfast run db/migrate --wait 5m -- npm run migrate
  holdfast run cache --mode read -- du -sh /var/cache
  holdfast run deploy/web -- sh -c './deploy --fence "$HOLDFAST_TOKEN"'
`,
  run: (args, io) => new RunUnderLock(parseRunTerms(args), io).run(),
}
