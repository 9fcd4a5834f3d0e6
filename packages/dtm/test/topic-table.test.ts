import { expect, it } from 'vitest'
import { toTopicTable } from '../src/index.ts'

it('S43: The table of topics has a row for each subscriber, without the query of its URL', () => {
  const topics = [
    {
      name: 'payments',
      version: 3,
      updatedAt: 0,
      subscribers: [
        { url: 'http://mail.test/in?token=hunter2&again=?hunter2', remark: 'by mail' },
        { url: 'http://ledger.test/in', remark: '' },
      ],
    },
    { name: 'orders', version: 1, updatedAt: 0, subscribers: [] },
  ]
  expect(toTopicTable(topics).rows).toEqual([
    ['orders', null, null],
    ['payments', 'http://mail.test/in', 'by mail'],
    ['payments', 'http://ledger.test/in', null],
  ])
})
