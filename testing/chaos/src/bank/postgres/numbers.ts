import { type CustomTypesConfig, types } from 'pg'

/** Reads a bigint as a number, and not as a text. All of a run's numbers are small enough. */
export const NUMBERS: CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === types.builtins.INT8 ? Number : types.getTypeParser(type, format ?? 'text'),
}
