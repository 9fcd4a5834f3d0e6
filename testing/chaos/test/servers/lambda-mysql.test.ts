import { proveFunctions } from './lambda-proof.ts'

proveFunctions({ store: 'mysql', sagas: 1_000, burst: 200 })
