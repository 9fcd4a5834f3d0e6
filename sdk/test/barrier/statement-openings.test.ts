import { describe, expect, it } from 'vitest'
import { assertKeepsTransaction } from '../../src/barrier/statement-guard.ts'
import { readOpenings } from '../../src/barrier/statement-openings.ts'

const refuse = (text: string, dialect: 'mysql' | 'postgres') => () =>
  assertKeepsTransaction('query', [text], dialect)

describe('the openings of statements', () => {
  it.each([
    'BEGIN',
    'begin work;',
    ' \t\n\u0001START\u000b TRANSACTION READ ONLY',
    'Commit',
    'COMMIT AND CHAIN',
    'rollback',
    'ROLLBACK WORK',
    'ROLLBACK AND NO CHAIN',
    '/* one */ -- two\n /**/ ROLLBACK /* TO */ ; ',
    '-- ;\nEND',
    'ABORT',
    ';;COMMIT',
    'SELECT 1; COMMIT',
    'SELECT \'a;\', "b;" /* ; */ -- ;\n ; ROLLBACK',
    'SAVEPOINT a; ROLLBACK TO a; ROLLBACK',
  ])('Statements that begin or end a transaction are found in both dialects: %j', (text) => {
    for (const dialect of ['mysql', 'postgres'] as const) {
      expect(refuse(text, dialect)).toThrow(expect.objectContaining({ code: 'BARRIER_STATEMENT_REFUSED' }))
    }
  })

  it.each([
    '',
    ';',
    '/*',
    '--',
    'SELECT 1',
    'SELECT 1;',
    'SAVEPOINT begin',
    'ROLLBACK TO a',
    'rollback to savepoint a',
    'ROLLBACK /* not TO */ WORK TO a',
    'ROLLBACK TRANSACTION TO a',
    'RELEASE SAVEPOINT a',
    'PREPARE one',
    'START REPLICA',
    'BEGIN NOT ATOMIC SELECT 1; END',
    'commits',
    'begin_it',
    "INSERT INTO note VALUES ('x; COMMIT')",
    'INSERT INTO note VALUES ("x; COMMIT")',
    "INSERT INTO note VALUES ('it''s; COMMIT')",
    'SELECT 1 -- ; COMMIT',
    'SELECT 1 /* ; COMMIT */',
    'CREATE FUNCTION one() RETURNS int BEGIN ATOMIC SELECT 1; END',
    "SELECT 'open; COMMIT",
  ])('Other statements are not: %j', (text) => {
    for (const dialect of ['mysql', 'postgres'] as const) expect(refuse(text, dialect)).not.toThrow()
  })

  it.each([
    ['mysql', '# one\nCOMMIT'],
    ['mysql', '/*! COMMIT */'],
    ['mysql', '/*!50000COMMIT*/'],
    ['mysql', '/*M!100100 COMMIT */'],
    ['mysql', "SELECT 'it\\'s'; COMMIT"],
    ['mysql', 'SELECT `a;` ; COMMIT'],
    ['mysql', '/*! SELECT 1 */; COMMIT'],
    ['postgres', '-- one\rCOMMIT'],
    ['postgres', '--one\nCOMMIT'],
    ['postgres', '/* /* */ */ COMMIT'],
    ['postgres', 'SELECT $$;$$; COMMIT'],
    ['postgres', 'SELECT $a$ $$; $a$; COMMIT'],
    ['postgres', "SELECT '\\'; COMMIT; --'"],
    ['postgres', "SELECT E'it\\'s'; COMMIT"],
    ['postgres', "PREPARE TRANSACTION 'a'"],
    ['postgres', 'SELECT a$b FROM c; COMMIT'],
  ] as const)('Statements are found behind what %s has alone: %j', (dialect, text) => {
    expect(refuse(text, dialect)).toThrow()
  })

  it.each([
    ['mysql', "INSERT INTO note VALUES ('it\\'s; COMMIT')"],
    ['mysql', 'INSERT INTO note VALUES (`x; COMMIT`)'],
    ['postgres', 'DO $$ BEGIN PERFORM 1; COMMIT; END $$'],
    ['postgres', "INSERT INTO note VALUES (E'it\\'s; COMMIT')"],
    ['postgres', 'SELECT 1 /* /* */ ; COMMIT */'],
  ] as const)('Texts of %s alone hold none: %j', (dialect, text) => {
    expect(refuse(text, dialect)).not.toThrow()
  })

  it('The words are in capitals, three for each statement at most', () => {
    expect(readOpenings('savepoint a; Release savepoint a; select 1, 2 from b', 'mysql')).toEqual([
      ['SAVEPOINT', 'A'],
      ['RELEASE', 'SAVEPOINT', 'A'],
      ['SELECT', '1'],
    ])
  })

  it('A text of 4 MB is read in no time', () => {
    const text = `INSERT INTO note VALUES (${"'a;\\\\', $x$ /* "} ${';'.repeat(2_000_000)}${"'$".repeat(1_000_000)}`
    const startedAt = performance.now()
    for (const dialect of ['mysql', 'postgres'] as const) readOpenings(text, dialect)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
  })
})
