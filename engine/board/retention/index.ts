export { readRetentionAges } from './config.ts';
export { retentionOperations } from './operations.ts';
export { createDataRetention, type DataRetention } from './retention.ts';
