/** Signed sample requests, as `svc webhook test` sends them. */
export { buildSignedSample } from '../../receiver/sample.ts';
export {
  formatWorkspaceHeader,
  parseWorkspaceName,
  WORKSPACE_HEADER,
} from '../../receiver/workspace-header.ts';
