import { type Caller, ownWorkError } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { AskedGraph, Graph, GraphPlace } from './index.ts';
import { describeGraphState, pickAnswer, toWireSymbol, type WireSymbol } from './wire.ts';

export interface SharedCodeDeps {
  graph: Graph;
  /** Returns registered projects. */
  projects(): readonly string[];
  /** Throws `unknown_project`. */
  projectId(id: string): string | null;
}

export const NOTHING_SHARED = 'no paths are shared: see `shared` and `paths.shared` of svc.yaml';

/** Finds the code that projects share with each other. */
export function createSharedCode({ graph, projects, projectId }: SharedCodeDeps) {
  const { sharedPaths } = graph;

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

  /** Finds symbols by a part of their name: shared ones first, then those of a caller's own project. */
  async function findShared(
    name: string,
    most: number,
    all: readonly (string | null)[],
    own: GraphPlace | null,
  ) {
    const found: WireSymbol[] = [];
    const notes: string[] = [];
    async function add(place: GraphPlace, only: string[] | null): Promise<void> {
      const asked = await graph.ask(place, { ask: 'search', query: name, limit: most, only });
      const { note } = describeGraphState(asked);
      if (note !== null) notes.push(note);
      for (const each of pickAnswer(asked, 'symbols')?.symbols ?? []) {
        const isKnown = found.some(
          ({ project, path, line, name: known }) =>
            project === place.project && path === each.path && line === each.line && known === each.qualified,
        );
        if (!isKnown) found.push(toWireSymbol(each, place.project));
      }
    }
    for (const project of all) {
      const shared = sharedPaths(project);
      if (shared.length > 0) await add({ project }, [...shared]);
    }
    if (own !== null && found.length < most) await add(own, null);
    return { found: found.slice(0, most), notes };
  }

  return { listReadable, readProject, nameShared, findShared };
}
