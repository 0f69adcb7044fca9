/**
 * The 46 tools in the order in which they are served (02 Endpoints), those of the Chair first. Clients do not get
 * tools that are not implemented yet.
 */
export const CHAIR_TOOLS = [
  'dispatch_worker',
  'task_add',
  'task_assign',
  'task_run',
  'worktree_promote',
  'worktree_prune',
  'worktree_status',
] as const;

export const SHARED_TOOLS = [
  'architecture',
  'ask',
  'ask_answer',
  'ask_list',
  'code_snippet',
  'context_crush',
  'context_externalize',
  'context_retrieve',
  'context_search',
  'entitlements_status',
  'impact',
  'inspect_symbol',
  'lock_acquire',
  'lock_check',
  'lock_release',
  'lock_status',
  'memory_conflicts',
  'memory_export',
  'memory_forget',
  'memory_import',
  'memory_list',
  'memory_recall',
  'memory_remember',
  'memory_sweep',
  'msg_ack',
  'msg_inbox',
  'msg_peers',
  'msg_roster',
  'msg_send',
  'msg_stale',
  'search_shared_symbols',
  'task_claim',
  'task_done',
  'task_list',
  'task_release',
  'trace_path',
  'usage_status',
  'verify_report',
  'verify_status',
] as const;

export const MANIFEST: readonly string[] = [...CHAIR_TOOLS, ...SHARED_TOOLS];
