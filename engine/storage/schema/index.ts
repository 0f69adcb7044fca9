import { brokerSchema } from './broker.ts';
import { busSchema } from './bus.ts';
import { claimedUsageSchema } from './claimed-usage.ts';
import { deliveriesSchema } from './deliveries.ts';
import { fleetSchema } from './fleet.ts';
import { forgeCommentsSchema } from './forge-comments.ts';
import { gatewayKeysSchema } from './gateway-keys.ts';
import { linkSchema } from './link.ts';
import { listCountsSchema } from './list-counts.ts';
import { lostRunsSchema } from './lost-runs.ts';
import { memorySchema } from './memory.ts';
import { memorySuccessorsSchema } from './memory-successors.ts';
import { memoryVectorsSchema } from './memory-vectors.ts';
import { pullRequestChecksSchema } from './pull-request-checks.ts';
import { pullRequestOrdersSchema } from './pull-request-orders.ts';
import { pullRequestRoundsSchema } from './pull-request-rounds.ts';
import { rerunMachinesSchema } from './rerun-machines.ts';
import { reviewsSchema } from './reviews.ts';
import { runnersSchema } from './runners.ts';
import { sessionPortsSchema } from './session-ports.ts';
import { sessionsSchema } from './sessions.ts';
import { sourcesSchema } from './sources.ts';
import { stateCountsSchema } from './state-counts.ts';
import { statsSchema } from './stats.ts';
import { storedTextsSchema } from './stored-texts.ts';
import { taskOrderSchema } from './task-order.ts';
import { taskPagesSchema } from './task-pages.ts';
import { tasksSchema } from './tasks.ts';
import { waitHandlesSchema } from './wait-handles.ts';

/** The schema of 0.1.0, and then one step per later change. A step that was released never changes. */
export const WORKSPACE_SCHEMA: readonly string[] = [
  [
    tasksSchema,
    sessionsSchema,
    busSchema,
    reviewsSchema,
    deliveriesSchema,
    gatewayKeysSchema,
    memorySchema,
    storedTextsSchema,
    linkSchema,
    stateCountsSchema,
  ].join(''),
  listCountsSchema,
  waitHandlesSchema,
  statsSchema,
  memorySuccessorsSchema,
  memoryVectorsSchema,
  sessionPortsSchema,
  claimedUsageSchema,
  runnersSchema,
  fleetSchema,
  lostRunsSchema,
  brokerSchema,
  rerunMachinesSchema,
  sourcesSchema,
  taskPagesSchema,
  pullRequestOrdersSchema,
  pullRequestRoundsSchema,
  taskOrderSchema,
  forgeCommentsSchema,
  pullRequestChecksSchema,
];
