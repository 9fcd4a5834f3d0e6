import { AssertionError, StoreUnavailableError } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { readRedirect, ServerRefusal, toStoreError } from './command-errors.ts'

const SCRIPT = `script: ${'a'.repeat(40)}, on @user_script:12.`

describe('an answer in place of a result', () => {
  // These are the texts of Redis 7.
  const notRun = [
    "OOM command not allowed when used memory > 'maxmemory'.",
    `OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'`,
    'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.',
    "READONLY You can't write against a read only replica.",
    'READONLY Can not run script with write flag on readonly replica.',
    'LOADING Redis is loading the dataset in memory',
    'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    'CLUSTERDOWN The cluster is down',
    'CLUSTERDOWN Hash slot not served',
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'MOVED 3999 127.0.0.1:6381',
    'ASK 3999 127.0.0.1:6381',
    'NOREPLICAS Not enough good replicas to write.',
    'NOAUTH Authentication required.',
    'WRONGPASS invalid username-password pair or user is disabled.',
    "NOPERM this user has no permissions to run the 'evalsha' command",
  ]
  for (const message of notRun) {
    it(`A command has certainly done nothing after the answer: ${message}`, () => {
      const error = toStoreError(new ServerRefusal(message))
      expect(error).toBeInstanceOf(StoreUnavailableError)
      expect(error).toMatchObject({ applied: 'no', code: 'SAGA_STORE_UNAVAILABLE' })
    })
  }

  it('A script in which a permission is missing may have done half', () => {
    const message = `NOPERM this user has no permissions to run the 'zadd' command ${SCRIPT}`
    expect(toStoreError(new ServerRefusal(message))).toMatchObject({ applied: 'unknown' })
  })

  const bugs = [
    `ERR attempt to index a nil value ${SCRIPT}`,
    `WRONGTYPE Operation against a key holding the wrong kind of value ${SCRIPT}`,
    'ROWUNREADABLE the head of counterstep:{p1}:t:a cannot be read',
    "CROSSSLOT Keys in request don't hash to the same slot",
  ]
  for (const message of bugs) {
    it(`An answer counts as a bug: ${message}`, () => {
      const error = toStoreError(new ServerRefusal(message))
      expect(error).toBeInstanceOf(AssertionError)
      expect(error.code).toBe('SAGA_INTERNAL')
    })
  }
})

describe('a redirect', () => {
  it('A redirect tells where the keys are', () => {
    const redirects = {
      'MOVED 3999 127.0.0.1:6381': { isAsking: false, host: '127.0.0.1', port: 6381 },
      'ASK 1 redis-2.example:7000': { isAsking: true, host: 'redis-2.example', port: 7000 },
      'MOVED 1 ::1:7000': { isAsking: false, host: '::1', port: 7000 },
      'MOVED 1 :7000': { isAsking: false, host: '', port: 7000 },
    }
    for (const [message, redirect] of Object.entries(redirects)) {
      expect(readRedirect(new ServerRefusal(message))).toEqual(redirect)
    }
  })

  it('An answer that is no redirect is not read as one', () => {
    for (const message of ['OOM', 'MOVED', 'ERR MOVED 1 a:1', 'TRYAGAIN x']) {
      expect(readRedirect(new ServerRefusal(message))).toBeUndefined()
    }
  })
})
