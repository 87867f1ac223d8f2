import { POSTGRES } from '../engines/sql/test-servers.ts'
import { runPairSuites } from './fixtures/run-pair-suites.ts'

runPairSuites(POSTGRES)
