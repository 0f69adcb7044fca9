import { z } from 'zod';
import { type Caller, ownWorkError } from '../../core/api/operation.ts';
import { tool } from '../../core/api/tool.ts';
import { formatCount, toPrintable } from '../../core/base/text.ts';
import {
  exactField,
  limitField,
  listField,
  quietField,
  sayWith,
  sessionField,
  stateFields,
  symbolField,
} from './graph-fields.ts';
import type { Graph, GraphPlace } from './index.ts';
import type { IndexProgress } from './index-files/indexer.ts';
import { describeIndexing, type ReadImpact } from './read-impact.ts';
import {
  describeGraphState,
  describeUnsure,
  labelSymbol,
  pickAnswer,
  sayTrace,
  toWireTrace,
  type WireImpact,
} from './wire.ts';

/** Returns the tree that a caller means: the named session, its own, or its project. Throws `chair_only`. */
export function findGraphPlace(caller: Caller, named: string | undefined): GraphPlace {
  const { ownWork, project, sessionId } = caller;
  if (named !== undefined && ownWork != null && named !== ownWork.sessionId)
    throw ownWorkError(`the code of ${named}`, caller);
  if (named === undefined || named === sessionId) return { project, session: sessionId ?? undefined };
  return { project, session: named, isNamed: true };
}

/** Creates the tool that shows the map of the code. */
export function architectureTool(graph: Graph) {
  return tool({
    name: 'architecture',
    about: 'Map of the code: folders with symbols and edges between them, entry points, most used symbols.',
    seat: 'any',
    changes: false,
    input: z.strictObject({ session: sessionField }),
    output: z.object({
      ...stateFields,
      files: z.int(),
      folders: listField,
      entry_points: listField,
      most_used: listField,
      symbols: quietField,
      edges: quietField,
      languages: quietField,
      biggest: quietField,
      truncated: quietField,
      exact: exactField,
    }),
    say: sayWith(({ files, folders, entry_points, most_used }) => [
      `${formatCount(files, 'file')}`,
      ...(
        folders as { folder: string; files: number; symbols: number; edges_in: number; edges_out: number }[]
      ).map(
        (each) =>
          `${toPrintable(each.folder)}: ${formatCount(each.files, 'file')}, ${formatCount(each.symbols, 'symbol')}, ${each.edges_in} in, ${each.edges_out} out`,
      ),
      `entry points: ${entry_points.map((each) => toPrintable(String(each))).join(', ')}`,
      `most used: ${(most_used as { name: string; uses: number }[]).map(({ name, uses }) => `${toPrintable(name)} (${uses})`).join(', ')}`,
    ]),
    async run(input, caller) {
      const asked = await graph.ask(findGraphPlace(caller, input.session), { ask: 'architecture' });
      const found = pickAnswer(asked, 'architecture')?.architecture;
      return {
        ...describeGraphState(
          asked,
          found?.files === 0 ? 'not_indexed' : null,
          found?.files === 0 ? 'there are no sources in a supported language' : null,
        ),
        files: found?.files ?? 0,
        symbols: found?.symbols ?? 0,
        edges: found?.edges ?? 0,
        languages: found?.languages ?? {},
        folders: (found?.folders ?? []).map(({ edgesIn, edgesOut, ...folder }) => ({
          ...folder,
          edges_in: edgesIn,
          edges_out: edgesOut,
        })),
        entry_points: found?.entryPoints ?? [],
        biggest: found?.biggest ?? [],
        most_used: (found?.mostUsed ?? []).map((each) => ({
          ...each,
          name: `${each.name} ${each.path}:${each.line}`,
        })),
        truncated: found?.truncated ?? false,
        exact: asked.exact,
      };
    },
  });
}

/** Creates the tool that follows calls. */
export function traceTool(graph: Graph) {
  return tool({
    name: 'trace.path',
    about:
      'Callers and callees of a symbol over several steps, with lines and the certainty of each edge. Unlike grep it knows imports and types.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      symbol: symbolField,
      depth: z.int().min(1).max(5).default(2).describe('Steps.'),
      direction: z.enum(['callers', 'callees', 'both']).default('both'),
      session: sessionField,
      limit: limitField,
    }),
    output: z.object({
      ...stateFields,
      id: z.int().nullable(),
      symbols: z.unknown(),
      edges: listField,
      more: z.int(),
      mentions: quietField,
      hubs: quietField,
      exact: exactField,
    }),
    say: sayWith((result) => {
      const { id, ...trace } = result as unknown as { id: number | null } & ReturnType<typeof toWireTrace>;
      return id === null ? [] : [`#${id} ${toPrintable(trace.symbols[id] ?? '')}`, ...sayTrace(trace, id)];
    }),
    async run(input, caller) {
      const { depth, direction } = input;
      const asked = await graph.ask(findGraphPlace(caller, input.session), {
        ask: 'trace',
        symbol: input.symbol,
        depth,
        direction,
      });
      const found = pickAnswer(asked, 'trace');
      if (found === null)
        return {
          ...describeGraphState(asked),
          id: null,
          symbols: {},
          edges: [],
          mentions: [],
          hubs: [],
          more: 0,
          exact: asked.exact,
        };
      const trace = toWireTrace(found.trace, input.limit);
      trace.symbols[found.symbol.id] = labelSymbol(found.symbol);
      const isAlone = trace.edges.length === 0;
      const unsure = found.trace.unsure === null ? null : describeUnsure(found.trace.unsure);
      const none =
        unsure !== null
          ? 'unsure_callers'
          : direction === 'callees'
            ? 'no_callees'
            : direction === 'callers'
              ? 'no_callers'
              : 'no_edges';
      const { overloads, builds } = found.trace;
      const why = isAlone
        ? `${found.symbol.name} is indexed, but no edge was found${unsure === null ? '' : `: ${unsure}`}`
        : overloads > 1
          ? `${formatCount(overloads, 'overload')} share some of these callers`
          : builds > 1
            ? `${formatCount(builds, 'file')} declare it for different builds; the callers are those of any`
            : unsure;
      return {
        ...describeGraphState(asked, isAlone ? none : null, why),
        id: found.symbol.id,
        ...trace,
        exact: asked.exact,
      };
    },
  });
}

/** Creates the tool that shows the effects of a change. */
export function impactTool(readImpact: ReadImpact) {
  return tool({
    name: 'impact',
    about:
      'The effects of a change: symbols of the paths, otherwise of git_range, otherwise of the session’s changes, with the code that refers to them over two steps, and tests.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      git_range: z.string().min(1).max(500).optional().describe('Such as main..HEAD; ignored with paths.'),
      paths: z.array(z.string().min(1).max(4096)).max(500).optional().describe('Files or folders.'),
      session: sessionField,
      limit: limitField,
    }),
    output: z.object({
      ...stateFields,
      symbols: z.array(z.string()),
      reached: listField,
      tests: z.array(z.string()),
      more: z.int(),
      files: quietField,
      not_indexed: quietField,
      removed: quietField,
      summary: quietField,
      is_stale: quietField,
      exact: exactField,
    }),
    say: sayWith((result) => {
      const { symbols, reached, tests, more } = result as unknown as WireImpact;
      return [
        `changed: ${symbols.map((each) => toPrintable(each)).join('; ')}`,
        ...reached.map(
          (each) =>
            `${'  '.repeat(each.hop - 1)}${toPrintable(each.symbol)} (line ${each.line}, by ${toPrintable(each.through)}, ${each.confidence.toFixed(1)}${each.test ? ', test' : ''})`,
        ),
        ...(tests.length === 0 ? [] : [`tests: ${tests.map((each) => toPrintable(each)).join(', ')}`]),
        ...(more > 0 ? [`and ${more} more`] : []),
      ];
    }),
    async run(input, caller, call) {
      const { paths, git_range: range, limit } = input;
      const question = { paths: paths?.length ? paths : null, range: range ?? null, limit };
      const progress = (at: IndexProgress): void => call.progress(describeIndexing(at));
      return readImpact(findGraphPlace(caller, input.session), question, { progress });
    },
  });
}
