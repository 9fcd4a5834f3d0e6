import { resolve } from 'node:path'
import { SETTINGS } from '@counterstep/configuration'
import { describe, expect, it } from 'vitest'
import { readCommand } from '../src/config.ts'

function readTable(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const command = readCommand(args, environment)
  if (command.type !== 'serve' && command.type !== 'dev') throw new Error(JSON.stringify(command))
  const { rows } = command.config.settingsTable
  return { rows, find: (name: string) => rows.find(([each]) => each === name)?.slice(1) }
}

describe('the table of settings', () => {
  it('Every setting of a server is in it, with what is in force and where that is from', () => {
    const { rows, find } = readTable(['serve', '--branch-timeout-ms', '7000'], { COUNTERSTEP_POLL_MS: '900' })
    expect(rows.map(([name]) => name)).toEqual(Object.keys(SETTINGS))
    expect(find('branchTimeoutMs')).toEqual(['7000', '--branch-timeout-ms'])
    expect(find('pollMs')).toEqual(['900', 'COUNTERSTEP_POLL_MS'])
    expect(find('port')).toEqual(['8470', 'default'])
    expect(find('keysFile')).toEqual([null, 'default'])
    expect(find('store')).toEqual([resolve('.data/counterstep.db'), 'default'])
  })

  it('What a setting came to is shown where its text does not say it', () => {
    expect(readTable(['serve', '--port', '0']).find('dtmPort')).toEqual(['off', 'default'])
    const dev = readTable(['dev'])
    expect([dev.find('logLevel'), dev.find('dtmPort')]).toEqual([
      ['warn', 'default'],
      ['off', 'default'],
    ])
  })

  const SECRETS = ['hunter2', 'hunter2@hunter2', 'hunter2,hunter2', 'hunter2:hunter2', 'hunter2%2Fhunter2']
  for (const secret of SECRETS) {
    it(`S43: The password ${secret} is not in it, wherever a setting takes one`, () => {
      const args = [
        'serve',
        ...['--store', `mysql://saga:${secret}@db.example/saga`],
        ...['--egress-proxy', `http://proxy:${secret}@proxy.example:3128`],
      ]
      const { rows, find } = readTable(args, {
        COUNTERSTEP_SERVICES: 'bank=http://bank.example,ledger=http://ledger.example/base',
      })
      expect(JSON.stringify(rows)).not.toContain('hunter2')
      expect(find('store')).toEqual(['mysql://saga@db.example/saga', '--store'])
      expect(find('egressProxy')).toEqual(['http://…@proxy.example:3128', '--egress-proxy'])
      expect(find('services')?.[0]).toBe('bank=http://bank.example,ledger=http://ledger.example/base')
    })
  }

  it('S43: A password of its own variable is not in it', () => {
    const { rows } = readTable(['serve', '--store', 'mysql://saga@db.example/saga'], {
      COUNTERSTEP_STORE_PASSWORD: 'hunter2',
    })
    expect(JSON.stringify(rows)).not.toContain('hunter2')
  })
})
