import { z } from 'zod';
import { type Caller, ownWorkError } from '../../core/api/operation.ts';
import { tool } from '../../core/api/tool.ts';
import { SvcError } from '../../core/base/errors.ts';
import { formatCount, toPrintable } from '../../core/base/text.ts';
import type { AskedGraph, Graph, GraphPlace } from './index.ts';
import type { IndexProgress } from './index-files/indexer.ts';
import { indexOperations } from './index-operations.ts';
import { describeIndexing, type ReadImpact } from './read-impact.ts';
import {
  describeGraphState,
  labelSymbol,
  pickAnswer,
  sayLack,
  sayState,
  sayTrace,
  toWireSymbol,
  toWireTrace,
  type WireImpact,
  type WireSymbol,
} from './wire.ts';

export interface GraphOperationDeps {
  graph: Graph;
  /** Returns registered projects. */
  projects(): readonly string[];
  /** Throws `unknown_project`. */
  projectId(id: string): string | null;
  readImpact: ReadImpact;
}

const session = z.string().min(1).max(200).optional().describe('Answer from its worktree.');
const symbol = z.string().min(1).max(1000).describe('id, name, Class.method or file:name.');
const limit = z.int().min(1).max(1000).optional().meta({ unlisted: true });
const list = z.array(z.unknown());
const quiet = z.unknown().meta({ unlisted: true });
const exact = z.string().nullable().meta({ unlisted: true });
const state = {
  empty: z.string().nullable(),
  note: z.string().nullable(),
  candidates: z.array(z.string()),
};

/** Creates the operations of clients on the code graph. */
export function graphOperations({ graph, projects, projectId, readImpact }: GraphOperationDeps) {
  const { sharedPaths } = graph;
  /** Returns the tree that a caller means: the named session, its own, or its project. Throws `chair_only`. */
  function findGraphPlace(caller: Caller, named: string | undefined): GraphPlace {
    const { ownWork, project, sessionId } = caller;
    if (named !== undefined && ownWork != null && named !== ownWork.sessionId)
      throw ownWorkError(`the code of ${named}`, caller);
    return { project, session: named ?? sessionId ?? undefined };
  }

  /** Returns the projects whose shared code a caller may read: only its own if its task is from an untrusted author. */
  const listReadable = ({ ownWork, project }: Caller): (string | null)[] =>
    ownWork == null ? [project, null, ...projects()] : [project];

  /** Throws `unknown_project`, `chair_only`. */
  function readProject(id: string, caller: Caller): string | null {
    const project = projectId(id);
    if (!listReadable(caller).includes(project)) throw ownWorkError(`the project ${id}`, caller);
    return project;
  }

  /** Finds a shared symbol in the index of a project; unshared symbols are neither found nor mentioned. */
  async function nameShared(
    symbol: string,
    project: string | null,
    named: string,
  ): Promise<string | AskedGraph> {
    const shared = sharedPaths(project);
    if (shared.length === 0)
      throw new SvcError('path_outside', `${named} shares no code`, { hint: NOTHING_SHARED });
    const asked = await graph.ask({ project }, { ask: 'inspect', symbol, only: [...shared] });
    const found = pickAnswer(asked, 'references');
    if (found !== null) return String(found.symbol.id);
    if (describeGraphState(asked).empty !== 'not_found') return asked;
    throw new SvcError('path_outside', `${named} shares no symbol ${JSON.stringify(symbol)}`, {
      hint: `shared there: ${shared.join(', ')}`,
    });
  }

  function sayWith<
    T extends { empty: string | null; note: string | null; candidates: string[]; exact?: string | null },
  >(lines: (result: T) => string[]): (result: T) => string {
    return (result) => [...lines(result), ...sayState(result), ...sayLack(result.exact ?? null)].join('\n');
  }

  async function findShared(name: string, most: number, all: readonly (string | null)[]) {
    const found: WireSymbol[] = [];
    const notes: string[] = [];
    for (const project of all) {
      const shared = sharedPaths(project);
      if (shared.length === 0) continue;
      const asked = await graph.ask(
        { project },
        { ask: 'search', query: name, limit: most, only: [...shared] },
      );
      const { note } = describeGraphState(asked);
      if (note !== null) notes.push(note);
      for (const each of pickAnswer(asked, 'symbols')?.symbols ?? []) found.push(toWireSymbol(each, project));
    }
    return { found: found.slice(0, most), notes };
  }

  return [
    tool({
      name: 'architecture',
      about: 'Map of the code: folders with symbols and edges between them, entry points, most used symbols.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ session }),
      output: z.object({
        ...state,
        files: z.int(),
        folders: list,
        entry_points: list,
        most_used: list,
        symbols: quiet,
        edges: quiet,
        languages: quiet,
        biggest: quiet,
        truncated: quiet,
        exact,
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
    }),
    tool({
      name: 'trace.path',
      about:
        'Callers and callees of a symbol over several steps, with lines and the certainty of each edge. Unlike grep it knows imports and types.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        symbol,
        depth: z.int().min(1).max(5).default(2).describe('Steps.'),
        direction: z.enum(['callers', 'callees', 'both']).default('both'),
        session,
        limit,
      }),
      output: z.object({
        ...state,
        id: z.int().nullable(),
        symbols: z.unknown(),
        edges: list,
        more: z.int(),
        mentions: quiet,
        hubs: quiet,
        exact,
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
        const none =
          direction === 'callees' ? 'no_callees' : direction === 'callers' ? 'no_callers' : 'no_edges';
        const why = isAlone ? `${found.symbol.name} is indexed, but no edge was found` : null;
        return {
          ...describeGraphState(asked, isAlone ? none : null, why),
          id: found.symbol.id,
          ...trace,
          exact: asked.exact,
        };
      },
    }),
    tool({
      name: 'impact',
      about:
        'The effects of a change: symbols of the paths, otherwise of git_range, otherwise of the session’s changes, with the code that refers to them over two steps, and tests.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        git_range: z.string().min(1).max(500).optional().describe('Such as main..HEAD; ignored with paths.'),
        paths: z.array(z.string().min(1).max(4096)).max(500).optional().describe('Files or folders.'),
        session,
        limit,
      }),
      output: z.object({
        ...state,
        symbols: z.array(z.string()),
        reached: list,
        tests: z.array(z.string()),
        more: z.int(),
        files: quiet,
        not_indexed: quiet,
        removed: quiet,
        summary: quiet,
        is_stale: quiet,
        exact,
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
    }),
    tool({
      name: 'code.snippet',
      about: 'The text of one symbol, without reading its file.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        id: z.int().min(1).optional().describe('Its id.'),
        symbol: symbol.optional(),
        max_lines: z.int().min(1).max(2000).default(120).describe('Lines of text.'),
        project: z.string().min(1).max(200).optional().describe('Another project; shared code only.'),
        session,
      }),
      output: z.object({
        ...state,
        path: z.string().nullable(),
        line: z.int().nullable(),
        text: z.string(),
        more: z.int(),
        id: quiet,
        end_line: quiet,
      }),
      say: sayWith(({ path, line, text, more }) =>
        path === null
          ? []
          : [
              `${toPrintable(path)}:${line}`,
              toPrintable(text, { lines: true }),
              ...(more > 0 ? [`and ${formatCount(more, 'more line')}`] : []),
            ],
      ),
      async run(input, caller) {
        const wanted = input.id === undefined ? input.symbol : String(input.id);
        if (wanted === undefined) throw new SvcError('fields_invalid', 'name a symbol or an id');
        const other = input.project === undefined ? caller.project : readProject(input.project, caller);
        const isOwn = other === caller.project;
        const place = isOwn ? findGraphPlace(caller, input.session) : { project: other };
        const named = isOwn ? wanted : await nameShared(wanted, other, input.project!);
        const asked =
          typeof named === 'string'
            ? await graph.ask(place, { ask: 'snippet', symbol: named, maxLines: input.max_lines })
            : named;
        const found = pickAnswer(asked, 'snippet');
        if (found === null)
          return {
            ...describeGraphState(asked),
            id: null,
            path: null,
            line: null,
            end_line: null,
            text: '',
            more: 0,
          };
        const { text, firstLine, lastLine, more } = found.snippet;
        return {
          ...describeGraphState(asked),
          id: found.symbol.id,
          path: found.symbol.path,
          line: firstLine,
          end_line: lastLine,
          text,
          more,
        };
      },
    }),
    tool({
      name: 'inspect.symbol',
      about: 'A shared symbol: signature, comment, location, number of uses.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ name: symbol }),
      output: z.object({ ...state, symbol: z.unknown(), references: z.unknown(), exact }),
      say: sayWith(({ symbol: found, references }) => {
        if (found === null) return [];
        const { id, kind, name, path, line, signature, doc } = found as WireSymbol;
        const uses = Object.entries(references as Record<string, number>).map(([each, n]) => `${n} ${each}`);
        return [
          `#${id} ${kind} ${toPrintable(name)} ${toPrintable(path)}:${line}`,
          toPrintable(signature),
          ...(doc === undefined ? [] : [toPrintable(doc)]),
          uses.length === 0 ? 'not referenced' : `referenced by ${uses.join(', ')}`,
        ];
      }),
      async run(input, caller) {
        let last: AskedGraph | null = null;
        for (const project of new Set(listReadable(caller))) {
          const shared = sharedPaths(project);
          if (shared.length === 0) continue;
          last = await graph.ask({ project }, { ask: 'inspect', symbol: input.name, only: [...shared] });
          const found = pickAnswer(last, 'references');
          if (found !== null)
            return {
              ...describeGraphState(last),
              symbol: toWireSymbol(found.symbol, project),
              references: found.references,
              exact: last.exact,
            };
        }
        const nothing =
          last === null
            ? {
                empty: 'not_indexed',
                note: NOTHING_SHARED,
                candidates: [],
              }
            : describeGraphState(last);
        return { ...nothing, symbol: null, references: {}, exact: last?.exact ?? null };
      },
    }),
    tool({
      name: 'search.shared_symbols',
      about:
        'Find code to use instead of writing it: symbols of shared paths, in all projects, by a part of their name.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        query: z.string().min(1).max(200).describe('Part of a name.'),
        limit: z.int().min(1).max(100).default(20),
        project: z.string().min(1).max(200).optional().describe('Only this project.'),
      }),
      output: z.object({ ...state, symbols: list }),
      say: sayWith(({ symbols }) =>
        (symbols as WireSymbol[]).map(
          (each) =>
            `${each.project == null ? '' : `${each.project} `}#${each.id} ${each.kind} ${toPrintable(each.name)} ${toPrintable(each.path)}:${each.line} ${toPrintable(each.signature)}`,
        ),
      ),
      async run(input, caller) {
        const readable = [...new Set(listReadable(caller))];
        const among = input.project === undefined ? readable : [readProject(input.project, caller)];
        const { found, notes } = await findShared(input.query, input.limit, among);
        const isShared = readable.some((project) => sharedPaths(project).length > 0);
        const why = isShared ? 'no shared symbol has this name' : NOTHING_SHARED;
        const empty = found.length > 0 ? null : isShared ? 'not_found' : 'not_indexed';
        return {
          empty,
          note: [...(empty === null ? [] : [why]), ...notes].join('; ') || null,
          candidates: [],
          symbols: found,
        };
      },
    }),
    ...indexOperations({ graph, projectId, placeOf: findGraphPlace }),
  ];
}

const NOTHING_SHARED = 'no paths are shared: see `shared` and `paths.shared` of svc.yaml';
