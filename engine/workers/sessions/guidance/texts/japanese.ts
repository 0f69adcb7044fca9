import { sentence } from '../../../../core/base/sentence.ts';
import type { GuidanceTexts } from '../rules.ts';

export const japanese: GuidanceTexts = {
  entry_chair: sentence`決定して仕事を割り振るのがあなたの役目です。時間のかかる作業は worker に任せ、自分のコンテキストは全体のために残してください。`,
  clarify_before_spawn: sentence`worker を始める前に、未解決の点を人と決めてください。書かれていないことを worker は尋ねられません。`,
  multiphase_tasks: sentence`複数の段階がある仕事は {task.add} で別々のタスクに分け、それぞれに確かめられる基準を付けてください。`,
  workers_no_fanout: sentence`自分で worker やエージェントを始めないでください。タスクが一人には大きすぎるときは {ask} で伝えてください。`,
  search_before_create: sentence`新しいコードを書く前に既存のコードを探し、あるものを使ってください。`,
  lock_shared: sentence`共有されているものを編集する前に {lock.acquire} でロックし、終わったら {lock.release} で解放してください。`,
  bus_only: sentence`ほかのセッションとは {msg.send} と {ask} だけで話し、ファイル、コメント、コミットメッセージを使わないでください。`,
  disk_memory: sentence`次のセッションが知るべきことはコンテキストではなく {memory.remember} に残し、決める前に {memory.recall} で確かめてください。`,
  crush: sentence`長い出力はコンテキストに入れず、シェルで \`svc context crush\` に通してください。大事なところが残り、残りの取り出し方が示されます。`,
  externalize: sentence`また必要になるかもしれない長いテキストは {context.externalize} で保存し、id だけを持っていてください。{context.retrieve} で戻り、{context.search} で一部を探せます。`,
  auto_gateway: sentence`ツールの出力は短くされて届くことがあります。[svc-crush: や [svc-stored: の行が省いた部分は、その id で {context.retrieve} を呼べば戻ります。そのためにコマンドを再実行しないでください。`,
};
