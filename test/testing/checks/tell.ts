import { expect, it } from 'vitest'
import type { CheckOptions } from '../../../src/testing/checks/check-options.ts'
import type { Evidence } from '../../../src/testing/checks/evidence.ts'
import { gatherEvidence } from '../../../src/testing/checks/evidence.ts'
import type { Violation } from '../../../src/testing/checks/violation.ts'
import type { Story } from './story.ts'

type Check = (evidence: Evidence) => Violation[]

/** A story, and what the check must find in it: part of the message, or `null` for nothing. */
export type Tale = readonly [title: string, finding: string | null, story: Story]

/** One test per tale, on one clock for everybody. */
export function tellAll(check: Check, tales: readonly Tale[], options: CheckOptions = {}): void {
  for (const [title, finding, story] of tales) {
    it(title, () => {
      const messages = check(gatherEvidence(story.records, { clockRateError: 0, ...options })).map(
        ({ message }) => message,
      )
      const expected = finding === null ? [] : [expect.stringContaining(finding)]
      expect(messages).toEqual(expected)
    })
  }
}
