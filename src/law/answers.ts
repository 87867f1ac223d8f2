import type { Draft } from './draft.ts'
import type { Outcome, Refused } from './model/outcomes.ts'
import {
  ENDED_CODES,
  type Ended,
  type EndedAnswer,
  type EndedCode,
  type Mode,
  type Step,
  type Waiter,
} from './model/view.ts'

/** What requests are answered that end without holding, and what is remembered of it for late copies. */

/** A waiter leaves without a grant; its request will never hold. */
export function dismiss(draft: Draft, waiter: Waiter, answer: Outcome): void {
  draft.removeWaiter(waiter, answer)
  draft.tell('cancelled', waiter, {
    requestId: waiter.requestId,
    mode: waiter.mode,
    code: answer.kind === 'refused' ? answer.code : undefined,
  })
  rememberAnswer(draft, waiter, answer)
}

/** Remember an answer after which the request must never hold, if it is one of those. */
export function rememberAnswer(
  draft: Draft,
  request: Pick<Waiter, 'owner' | 'operation'> & Pick<Step, 'requestId' | 'mode' | 'joined'>,
  answer: Outcome,
): void {
  const ended = toEndedAnswer(answer)
  if (ended !== undefined) draft.rememberRequest(request, request, ended)
}

function toEndedAnswer(answer: Outcome): EndedAnswer | undefined {
  if (answer.kind === 'skip' || answer.kind === 'dissolved') return answer
  if (answer.kind !== 'refused' || !isEndedCode(answer.code)) return undefined
  return { kind: 'refused', code: answer.code }
}

function isEndedCode(code: Refused['code']): code is EndedCode {
  return (ENDED_CODES as readonly string[]).includes(code)
}

/** A replay of an ended request is answered with how it ended, and changes nothing. */
export function replayEnded(ended: Ended, mode?: Mode): Outcome {
  const { answer } = ended
  if (mode !== undefined && mode !== (ended.mode ?? mode)) return otherMode()
  if (answer.kind !== 'hold-ended') return answer
  return { kind: 'refused', code: 'ended', end: answer.end }
}

export function otherMode(): Refused {
  return {
    kind: 'refused',
    code: 'bad_request',
    detail: 'the request id was used with another mode',
  }
}
