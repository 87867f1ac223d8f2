import { MYSQL } from '../engines/sql/test-servers.ts'
import { runPairSuites } from './fixtures/run-pair-suites.ts'

runPairSuites(MYSQL)
