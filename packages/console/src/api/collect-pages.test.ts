import type { TransactionSummary } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { collectPages, EXPORT_ROWS_MAX } from './collect-pages.ts'

const row = (number: number) => ({ gid: `order-${number}` }) as TransactionSummary

/** Answers pages one after the other, and notes what was asked. */
function play(pages: readonly (readonly number[])[]) {
  const asked: URLSearchParams[] = []
  const read = async (query: string) => {
    asked.push(new URLSearchParams(query))
    const at = asked.length
    const items = (pages[at - 1] ?? []).map(row)
    return { items, ...(at < pages.length ? { cursor: `c${at}` } : {}) }
  }
  return { asked, read }
}

async function collect(pages: readonly (readonly number[])[]) {
  const { asked, read } = play(pages)
  return { ...(await collectPages({ range: '1h' }, 7_200_000, read)), asked }
}

describe('the pages of an export', () => {
  it('All pages are walked with one filter, an empty one too, and a row that moves is there once', async () => {
    const { rows, isCut, asked } = await collect([[1, 2], [], [2, 3]])
    expect([rows.map(({ gid }) => gid), isCut]).toEqual([['order-1', 'order-2', 'order-3'], false])
    expect(asked.map((query) => query.get('cursor'))).toEqual([null, 'c1', 'c2'])
    expect(asked.map((query) => query.get('createdFrom'))).toEqual(['3600000', '3600000', '3600000'])
  })

  it('An export ends at its bound of rows, and says that there may be more', async () => {
    const pages = Array.from({ length: 30 }, (_, page) =>
      Array.from({ length: 200 }, (_each, at) => page * 200 + at),
    )
    const { rows, isCut, asked } = await collect(pages)
    expect([rows.length, isCut, asked.length]).toEqual([EXPORT_ROWS_MAX, true, 26])
  })

  it('An export ends at its bound of pages, however empty these are', async () => {
    const { rows, isCut, asked } = await collect(Array.from({ length: 500 }, () => []))
    expect([rows.length, isCut, asked.length]).toEqual([0, true, 100])
  })
})
