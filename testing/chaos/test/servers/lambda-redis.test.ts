import { proveFunctions } from './lambda-proof.ts'

proveFunctions({ store: 'redis', sagas: 300, burst: 60 })
