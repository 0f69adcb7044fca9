import { sentence } from '../../../../core/base/sentence.ts';
import type { GuidanceTexts } from '../rules.ts';

export const chinese: GuidanceTexts = {
  entry_chair: sentence`由你决定并分派工作：耗时的事交给 worker，把自己的上下文留给全局。`,
  clarify_before_spawn: sentence`启动 worker 之前，先与人确认未决的问题；你没有写明的事，它无从问起。`,
  multiphase_tasks: sentence`把分多个阶段的工作用 {task.add} 拆成独立的任务，每个任务都要有可以检验的标准。`,
  workers_no_fanout: sentence`不要自行启动 worker 或其他代理。任务太大、一个人做不完时，用 {ask} 说明。`,
  search_before_create: sentence`写新代码之前先查找现有代码，能用的就用。`,
  lock_shared: sentence`修改共享的内容之前用 {lock.acquire} 加锁，完成后用 {lock.release} 释放。`,
  bus_only: sentence`只用 {msg.send} 和 {ask} 与其他会话交流，不要借助文件、注释或提交信息。`,
  disk_memory: sentence`下一个会话应当知道的事，用 {memory.remember} 记下，而不是留在上下文里；做决定之前先用 {memory.recall} 查看。`,
  crush: sentence`不要让长输出进入上下文：在 shell 中用 \`svc context crush\` 过滤，它保留要点并说明如何取回其余部分。`,
  externalize: sentence`以后可能还要用的长文本，用 {context.externalize} 存起来，只保留它的 id；{context.retrieve} 可以取回，{context.search} 可以查找其中的片段。`,
  auto_gateway: sentence`工具的输出可能已被缩短：带 [svc-crush: 或 [svc-stored: 的行省略的内容，用其中的 id 调用 {context.retrieve} 取回，不要为此重新运行命令。`,
};
