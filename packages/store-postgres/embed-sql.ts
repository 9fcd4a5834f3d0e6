import { writeGeneratedSql } from '../store-sql/embed-sql.ts'

writeGeneratedSql(import.meta.dirname)
