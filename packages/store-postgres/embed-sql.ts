import { writeGeneratedSql } from '@counterstep/store-sql/embed'

writeGeneratedSql(import.meta.dirname)
