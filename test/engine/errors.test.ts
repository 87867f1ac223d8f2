import { expect, it } from 'vitest'
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/engine/errors/error-catalogue.ts'
import {
  ConflictError,
  createError,
  isLockError,
  LockError,
  TimeoutError,
} from '../../src/engine/errors/errors.ts'

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[]

it.each(CODES)('%s is made in the class that the catalogue says', (code) => {
  const error = createError(code, 'it happened')
  expect(error).toBeInstanceOf(LockError)
  expect(error.name).toBe(ERROR_CATALOGUE[code].class)
  expect(error.code).toBe(code)
  expect(error.retryable).toBe(ERROR_CATALOGUE[code].retryable)
  expect(error.applied).toBe('no')
})

it('an error is an instance of its own class and of no other', () => {
  const error = createError('LOCK_WAIT_TIMEOUT', 'too long')
  expect(error).toBeInstanceOf(TimeoutError)
  expect(error).not.toBeInstanceOf(ConflictError)
  expect({}).not.toBeInstanceOf(LockError)
})

it('an error of another copy of the package is recognised', () => {
  const brand = Symbol.for('holdfast.LockError')
  const foreign = Object.assign(new Error('held'), { code: 'LOCK_HELD', [brand]: 'ConflictError' })
  expect(foreign).toBeInstanceOf(LockError)
  expect(foreign).toBeInstanceOf(ConflictError)
  expect(isLockError(foreign, 'LOCK_HELD')).toBe(true)
  expect(isLockError(foreign, 'LOCK_LOST')).toBe(false)
})

it('details, cause and applied are kept', () => {
  const cause = new Error('EIO')
  const error = createError('LOCK_STORAGE_FAILED', 'no', {
    cause,
    applied: 'maybe',
    details: { n: 1 },
  })
  expect(error.cause).toBe(cause)
  expect(error.applied).toBe('maybe')
  expect(error.details).toEqual({ n: 1 })
})
