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
    ['mysql', 'SET autocommit = 1'],
    ['mysql', 'set session autocommit=0'],
    ['mysql', 'SET LOCAL autocommit := ON'],
    ['mysql', 'SET @@autocommit = 1'],
    ['mysql', 'SET @@session.autocommit = 1'],
    ['mysql', 'SET @@session . `autocommit` = 1'],
    ['mysql', 'SELECT 1; SET `autocommit` = 1'],
    ['mysql', 'INSERT INTO größe VALUES (1); COMMIT'],
    ['postgres', '-- ;\nEND'],
    ['postgres', 'ABORT'],
    ['postgres', 'BEGIN NOT DEFERRABLE'],
    ['postgres', 'DECLARE a CURSOR FOR SELECT 1; COMMIT'],
    ['postgres', 'ALTER TABLE a ADD b int; COMMIT'],
    ['postgres', 'SELECT $1$2; COMMIT'],
    ['postgres', 'SELECT $größe$;$größe$; COMMIT'],
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
    ['mysql', 'BEGIN NOT ATOMIC SELECT 1; COMMIT; END'],
    ['mysql', 'BEGIN INSERT INTO a VALUES (1); END'],
    ['mysql', 'IF @a = 1 THEN UPDATE b SET c = 1; BEGIN SELECT 1; END; END IF'],
    ['mysql', 'WHILE @a < 3 DO SET @a = @a + 1; END WHILE'],
    ['mysql', 'FOR a IN 1..3 DO INSERT INTO b VALUES (a); BEGIN SELECT 1; END; END FOR'],
    ['mysql', 'CASE @a WHEN 1 THEN UPDATE b SET c = 1; END CASE'],
    ['mysql', 'REPEAT SET @a = @a + 1; BEGIN SELECT 1; END; UNTIL @a > 3 END REPEAT'],
    ['mysql', 'LOOP SELECT 1; BEGIN SELECT 1; END; EXIT; END LOOP'],
    ['mysql', 'DECLARE a INT; BEGIN SET a = 1; END'],
    ['mysql', 'ALTER EVENT a DO BEGIN SELECT 1; BEGIN SELECT 1; END; END'],
    ['mysql', "PREPARE transaction FROM 'SELECT 1'"],
    ['mysql', 'SET @autocommit = 1'],
    ['mysql', 'SET GLOBAL autocommit = 1'],
    ['mysql', 'SET @@global.autocommit = 1'],
    ['mysql', 'SET autocommits = 1'],
    ['postgres', 'DO $größe$ BEGIN PERFORM 1; COMMIT; END $größe$'],
    ['postgres', "SELECT éE'\\'; SELECT '; COMMIT'"],
    ['postgres', 'PREPARE transaction AS SELECT 1'],
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

  it.each([
    ['lines of comments', '--\n'.repeat(350_000)],
    ['lines of comments behind a statement', `SELECT 1${'\n--'.repeat(350_000)}\n;`],
    ['nested comments', `${'/*'.repeat(500_000)}*/`],
    ['nested comments that are closed', `${'/*'.repeat(250_000)}${'*/'.repeat(250_000)}`],
    ['dollars', `SELECT 1;${'$a '.repeat(350_000)}`],
    ['marks', `SET ${'@@'.repeat(500_000)}`],
  ])('A text of 1 MB is read in no time: %s', (_, text) => {
    const startedAt = performance.now()
    for (const dialect of ['mysql', 'postgres'] as const) readOpenings(text, dialect)
    expect(performance.now() - startedAt).toBeLessThan(1_000)
  })

  it('A text of 4 MB is read in no time', () => {
    const text = `INSERT INTO note VALUES (${"'a;\\\\', $x$ /* "} ${';'.repeat(2_000_000)}${"'$".repeat(1_000_000)}`
    const startedAt = performance.now()
    for (const dialect of ['mysql', 'postgres'] as const) readOpenings(text, dialect)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
  })
})
