import { architectureTool, findGraphPlace, impactTool, traceTool } from './explore-operations.ts';
import { indexOperations } from './index-operations.ts';
import type { ReadImpact } from './read-impact.ts';
import { createSharedCode, type SharedCodeDeps } from './shared-code.ts';
import { inspectTool, searchSharedTool, snippetTool } from './shared-operations.ts';

export interface GraphOperationDeps extends SharedCodeDeps {
  readImpact: ReadImpact;
}

/** Creates the operations of clients on the code graph. */
export function graphOperations({ readImpact, ...deps }: GraphOperationDeps) {
  const { graph, projectId } = deps;
  const shared = createSharedCode(deps);
  return [
    architectureTool(graph),
    traceTool(graph),
    impactTool(readImpact),
    snippetTool(graph, shared),
    inspectTool(graph, shared),
    searchSharedTool(graph, shared),
    ...indexOperations({ graph, projectId, placeOf: findGraphPlace }),
  ];
}
