import { describe, expect, it } from 'vitest'
import { ABORT, buildTcc, folded, RETRY_NOW, register, STOP, SUBMIT } from '../../test/prepared.ts'
import { CREATED_AT, serial } from '../../test/sagas.ts'
import { table } from '../../test/table.ts'
import type { Command } from '../rules/events.ts'
import type { Transaction } from '../transaction.ts'
import { judgeCommand } from './judge-command.ts'

const DURABLE: Readonly<Record<string, Transaction>> = {
  'saga submitted': serial(1),
  'saga aborting': folded(serial(1), [ABORT]),
  'saga stopped': folded(serial(1), [STOP]),
  'tcc prepared': buildTcc(1),
  'tcc submitted': folded(buildTcc(1), [SUBMIT]),
}

// The first branch is registered, the second is not.
const COMMANDS: Readonly<Record<string, Command>> = {
  again: register(0),
  register: register(1),
  submit: SUBMIT,
  abort: ABORT,
  retry: RETRY_NOW,
  stop: STOP,
}

// '-': transactions of this kind do not have the command.
describe('what has come of a command that was saved', () => {
  for (const { cells } of table`
    durable         again  register      submit  abort          retry          stop
    saga submitted  -      -             -       again          done           again
    saga aborting   -      -             -       done           done           again
    saga stopped    -      -             -       already-final  already-final  done
    tcc prepared    done   again         again   again          done           again
    tcc submitted   done   not-prepared  done    not-prepared   done           again
  `) {
    judges(cells)
  }
})

it('The stored row decides about a command that asked for no save', () => {
  for (const durableTransaction of Object.values(DURABLE)) {
    for (const command of Object.values(COMMANDS)) {
      expect(judgeCommand({ durableTransaction }, command, false, CREATED_AT)).toBe('ask-store')
    }
  }
})

function judges({ durable = '', ...verdicts }: Readonly<Record<string, string>>): void {
  for (const [name, verdict] of Object.entries(verdicts)) {
    if (verdict === '-') continue
    it(`${durable} · ${name} → ${verdict}`, () => {
      const [durableTransaction, command] = [DURABLE[durable], COMMANDS[name]]
      if (durableTransaction === undefined || command === undefined)
        throw new Error('no such state or command')
      expect(judgeCommand({ durableTransaction }, command, true, CREATED_AT)).toBe(verdict)
    })
  }
}
