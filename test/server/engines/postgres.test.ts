import { POSTGRES } from '../../engines/sql/test-servers.ts'
import { runServerTests } from './run-server-tests.ts'

runServerTests(POSTGRES)
