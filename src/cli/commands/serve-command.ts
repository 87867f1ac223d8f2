import type { CliCommand } from '../cli-command.ts'
import { runServe } from '../serve.ts'
import { describeLimits, describeOptions } from '../settings/describe-settings.ts'

export const serveCommand: CliCommand = {
  help: `Usage: holdfast serve [options]

Run a lock server. It prints one line with its address when it is ready, and stops on SIGTERM or
SIGINT: waiters are told to come back, and holds stay held.

${describeOptions()}

Limits:
${describeLimits()}

Every option is also a variable of the environment (--session-grace is HOLDFAST_SESSION_GRACE) and a
key of the config file (session-grace = "5s"). Options count before the environment, the environment
before the file. An engine's URL with a password belongs into HOLDFAST_ENGINE or the file: options can
be read in the list of processes. Several servers on one database act as one.

Examples:
  holdfast serve
  holdfast serve --port 9000 --data /var/lib/holdfast
  holdfast serve --host 0.0.0.0 --tokens tokens.toml --tls-cert cert.pem --tls-key key.pem
  holdfast serve --engine memory: --limit waiters=500 --limit wait=10m
  holdfast serve --engine postgres://holdfast@db.internal/locks
`,
  run: runServe,
}
