import { z } from 'zod';
import { type Caller, operation } from '../../core/api/operation.ts';
import type { ExactRun } from './exact/exact-edges.ts';
import type { Graph, GraphPlace } from './index.ts';
import type { IndexProgress } from './index-files/indexer.ts';
import { describeIndexing } from './read-impact.ts';
import { describeGraphState, pickAnswer, toWireSymbol } from './wire.ts';

interface IndexOperationDeps {
  graph: Graph;
  /** Throws `unknown_project`. */
  projectId(id: string): string | null;
  /** Returns the tree that a caller means. */
  placeOf(caller: Caller, session: string | undefined): GraphPlace;
}

/** A caller that asks for the progress of an index does not want to wait for it. */
const STATUS_PATIENCE_MS = 2000;

/** Returns the wire form of a compiler run. */
const toWireRun = ({ version, at, ms, peakMb, raised, added, unconfined, failed }: ExactRun) => ({
  typescript: version === '' ? null : version,
  at,
  ms: Math.round(ms),
  peak_mb: Math.round(peakMb),
  raised,
  added,
  unconfined,
  failed,
});

/** Creates operations on the code index for people, which agents are not offered. */
export const indexOperations = ({ graph, projectId, placeOf }: IndexOperationDeps) => [
  operation({
    name: 'graph.index',
    about: 'Update the index of the code.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({
      full: z.boolean().default(false),
      exact: z.boolean().default(false),
      session: z.string().optional(),
      project: z.string().optional(),
    }),
    async run(input, caller, call) {
      const project = input.project === undefined ? caller.project : projectId(input.project);
      const place = { project, session: input.session, isNamed: input.session !== undefined };
      const progress = (at: IndexProgress): void => call.progress(describeIndexing(at));
      const { read, removed, resolved, ms } = await graph.index(place, input.full, progress);
      const run = input.exact ? await graph.compile(place, progress) : null;
      return { read, removed, resolved, ms: Math.round(ms), exact: run === null ? null : toWireRun(run) };
    },
  }),
  operation({
    name: 'graph.status',
    about: 'The content of the code index, and what it omits.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({ session: z.string().optional(), project: z.string().optional() }),
    async run(input, caller) {
      const project = input.project === undefined ? caller.project : projectId(input.project);
      const asked = await graph.ask(
        { project, session: input.session, isNamed: input.session !== undefined },
        { ask: 'status' },
        { patienceMs: STATUS_PATIENCE_MS },
      );
      const { compiled } = asked;
      const exact = {
        lack: asked.exact,
        files: compiled.files,
        seen: compiled.files - compiled.lacking,
        run: compiled.run === null ? null : toWireRun(compiled.run),
      };
      return { ...pickAnswer(asked, 'status')!.status, exact, note: describeGraphState(asked).note };
    },
  }),
  operation({
    name: 'graph.symbol',
    about: 'Symbols of a project by a part of their name.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      query: z.string().min(1).max(1000),
      limit: z.int().min(1).max(1000).default(20),
      session: z.string().optional(),
    }),
    async run(input, caller) {
      const asked = await graph.ask(placeOf(caller, input.session), {
        ask: 'search',
        query: input.query,
        limit: input.limit,
        only: null,
      });
      const symbols = (pickAnswer(asked, 'symbols')?.symbols ?? []).map((each) => toWireSymbol(each));
      return { ...describeGraphState(asked, symbols.length === 0 ? 'not_found' : null), symbols };
    },
  }),
];
