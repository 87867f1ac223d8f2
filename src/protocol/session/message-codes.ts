import type { Command } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'

/** The first member of every message: what it is. Numbers below 128 are one byte. */

/** From a client. Commands have their own. */
export const CLIENT_OPS = {
  hello: 1,
  heartbeat: 2,
  received: 3,
  goodbye: 4,
  abort: 5,
  read: 6,
  watch: 7,
  unwatch: 8,
} as const

export const COMMAND_OPS: Readonly<Record<Command['kind'], number>> = Object.freeze({
  acquire: 16,
  release: 17,
  renew: 18,
  cancel: 19,
  force: 20,
  begin: 21,
  finish: 22,
  withdraw: 23,
  unref: 24,
  'open-session': 25,
  'touch-session': 26,
  'close-session': 27,
  sweep: 28,
})

/** From a server. Outcomes have their own. */
export const SERVER_OPS = {
  welcome: 32,
  frame: 33,
  beat: 34,
  error: 35,
  reply: 36,
  done: 37,
  event: 38,
  lost: 39,
  over: 40,
  comeBack: 41,
} as const

export const OUTCOME_OPS: Readonly<Record<Outcome['kind'], number>> = Object.freeze({
  granted: 48,
  queued: 49,
  skip: 50,
  dissolved: 51,
  released: 52,
  renewed: 53,
  cancelled: 54,
  finished: 55,
  forced: 56,
  unreferenced: 57,
  'session-opened': 58,
  'session-touched': 59,
  'session-closed': 60,
  swept: 61,
  refused: 62,
})
