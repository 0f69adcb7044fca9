import * as z from 'zod';
import { retainSchema } from '../board/retention/config.ts';
import { asksSchema, busSchema } from '../bus/config.ts';
import { policySchema, telemetrySchema } from '../core/access/config.ts';
import { fleetSchema } from '../fleet/config.ts';
import { aiSchema, gatewaySchema } from '../gateway/config.ts';
import { contextSchema } from '../knowledge/context/config.ts';
import { guardSchema } from '../knowledge/guard/config.ts';
import { memorySchema } from '../knowledge/memory/config.ts';
import { graphSchema, parsersSchema, sharedSchema } from '../knowledge/symbols/config.ts';
import { serverSchema } from '../link/config.ts';
import { notifySchema } from '../notify/config.ts';
import { webhookSchema } from '../receiver/config.ts';
import { sourcesSchema } from '../sources/config.ts';
import { dbSchema, pathsSchema } from '../storage/config.ts';
import { agentsSchema } from '../workers/agents/config.ts';
import { chairSchema } from '../workers/sessions/guidance/config.ts';
import { daemonSchema, uiSchema } from './daemon.ts';
import { projectSchema, projectsSchema, workspaceSchema } from './workspace.ts';

/** Parses without compiling the schema first: at a start, which parses a file once, that takes longer. */
export const UNCOMPILED = { jitless: true } as const;

/** The whole of svc.yaml: the twenty sections in the order of the document, then those of receiver, notify, retention, graph, asks, fleet and sources. */
export const configSchema = z.strictObject({
  agents: agentsSchema.prefault({}),
  ai: aiSchema.prefault({}),
  bus: busSchema.prefault({}),
  chair: chairSchema.prefault({}),
  context: contextSchema.prefault({}),
  daemon: daemonSchema.prefault({}),
  db: dbSchema.prefault({}),
  gateway: gatewaySchema.prefault({}),
  guard: guardSchema.prefault({}),
  memory: memorySchema.prefault({}),
  parsers: parsersSchema,
  paths: pathsSchema.prefault({}),
  policy: policySchema.prefault({}),
  project: projectSchema.prefault({}),
  projects: projectsSchema,
  server: serverSchema.prefault({}),
  shared: sharedSchema,
  telemetry: telemetrySchema.prefault({}),
  ui: uiSchema.prefault({}),
  workspace: workspaceSchema.prefault({}),
  webhook: webhookSchema.prefault({}),
  notify: notifySchema.prefault({}),
  retain: retainSchema.prefault({}),
  graph: graphSchema.prefault({}),
  asks: asksSchema.prefault({}),
  fleet: fleetSchema.prefault({}),
  sources: sourcesSchema,
});

/** The allowed sections of `ai.yaml` in the machine home. */
export const homeSchema = z.strictObject({
  ai: aiSchema.prefault({}),
  gateway: gatewaySchema.prefault({}),
});

/** svc.yaml with all defaults. Names stay as in the file. */
export type Config = z.output<typeof configSchema>;
