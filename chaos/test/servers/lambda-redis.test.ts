import { proveFunctions } from './lambda-proof.ts'

proveFunctions({ store: 'redis', sagas: 150, burst: 50 })
