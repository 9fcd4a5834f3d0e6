import type { EngineApi } from '@counterstep/engine'
import { expect, it } from 'vitest'
import { buildDtmApp } from '../src/index.ts'
import type { TopicStore } from '../src/topics/topic-store.ts'

async function ask(url: string, host: string, port: number | undefined | 'no-console') {
  const app = buildDtmApp({
    engine: { isStopping: false } as unknown as EngineApi,
    topics: {} as TopicStore,
    checkUrl: () => undefined,
    ...(port === 'no-console' ? {} : { findConsolePort: () => port }),
  })
  try {
    const { statusCode, headers } = await app.inject({ url, headers: { host } })
    if (statusCode === 302) expect(headers['cache-control']).toBe('no-store')
    return [statusCode, headers.location]
  } finally {
    await app.close()
  }
}

it('The paths of the page for operators of DTM lead to the console on its port', async () => {
  for (const url of ['/', '/admin', '/admin/x/y'])
    expect(await ask(url, 'old.test:36789', 8470), url).toEqual([302, 'http://old.test:8470/console/'])
  expect(await ask('/admin', '[::1]:36789', 8470)).toEqual([302, 'http://[::1]:8470/console/'])
})

it('They are unknown without a console, and for a host that is none', async () => {
  expect(await ask('/', 'old.test', 'no-console')).toEqual([404, undefined])
  expect(await ask('/', 'old.test', undefined)).toEqual([404, undefined])
  expect(await ask('/', 'old.test/@evil.test', 8470)).toEqual([404, undefined])
})
