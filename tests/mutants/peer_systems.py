"""Mutations of what starts, asks and stops the servers of others."""

from tree import Mutation

_AUTHD = "lab/test_pure_authd.PureAuthdTest."
_FOOTPRINT = "lab/test_footprint.FootprintTest."
_SERVERS = "lab/test_peer_servers.PeerServersTest."
_SYSTEMS = "lab/test_peer_systems.PeerSystemsTest."
_TREE = "lab/test_process_tree.ProcessTreeTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "anonymous-user-is-unknown",
        "lab/systems/peers/system.py",
        "asks_nobody = self.entry.asks_whom == known.NOBODY",
        "asks_nobody = False",
        (_SYSTEMS + "test_a_server_that_asks_nobody",),
    ),
    Mutation(
        "configuration-is-not-recorded",
        "lab/systems/peers/server.py",
        'return file.read_text(encoding="utf-8") if file.exists() else ""',
        'return ""',
        (_SYSTEMS + "test_a_server_with_accounts_of_its_own",),
    ),
    Mutation(
        "sessions-outlive-their-server",
        "lab/rig/process_tree.py",
        "children = _identified(tree(program.pid)[1:])",
        "children = set()",
        (_TREE + "test_all_are_stopped",),
    ),
    Mutation(
        "a-session-may-ignore-the-end",
        "lab/rig/process_tree.py",
        "signal.SIGKILL if passed_s > _KILL_AFTER_S else signal.SIGTERM",
        "signal.SIGTERM",
        (_TREE + "test_all_are_stopped",),
    ),
    Mutation(
        "children-of-children-are-not-seen",
        "lab/rig/process_tree.py",
        "    for parent in found:  # grows while it is read",
        "    for parent in found[:1]:",
        (_TREE + "test_children_of_children_belong_to_it",),
    ),
    Mutation(
        "missing-package-is-an-error",
        "lab/systems/peers/packages.py",
        'raise LeftOut(f"{package} is left out: {reason}") from reason',
        "raise",
        (_SERVERS + "test_a_server_that_cannot_be_downloaded_is_left_out_by_name",),
    ),
    Mutation(
        "broken-copy-is-kept",
        "lab/systems/peers/packages.py",
        'new = copy.folder.with_suffix(".new")',
        "new = copy.folder",
        (_SERVERS + "test_a_server_that_cannot_be_downloaded_is_left_out_by_name",),
    ),
    Mutation(
        "unreadable-folder-is-served",
        "lab/systems/peers/ftp_server.py",
        "& _OTHERS_MAY_ENTER != _OTHERS_MAY_ENTER",
        "& 0 != 0",
        (_SERVERS + "test_a_folder_that_sessions_cannot_read_is_told",),
    ),
    Mutation(
        "sessions-are-kept-on-the-host",
        "lab/systems/peers/pure_ftpd.py",
        'return super().mounts() | {self.folder / "run": str(_SESSIONS)}',
        "return super().mounts()",
        (_SERVERS + "test_the_host_keeps_no_session_of_pure_ftpd",),
    ),
    Mutation(
        "colon-in-a-name-reaches-the-authserver",
        "lab/systems/peers/ask_authserver",
        "^[A-Za-z0-9._@+-]{1,64}$",
        "^[A-Za-z0-9._@+:-]{1,64}$",
        (_AUTHD + "test_the_script_asks_for_exactly_this_user_and_password",),
    ),
    Mutation(
        "line-break-in-a-password-reaches-the-authserver",
        "lab/systems/peers/ask_authserver",
        "[[ ! $AUTHD_PASSWORD =~ [[:cntrl:]] ]] || refuse",
        ":",
        (_AUTHD + "test_the_script_asks_for_exactly_this_user_and_password",),
    ),
    Mutation(
        "every-reply-is-a-grant",
        "lab/systems/peers/ask_authserver",
        "[[ $reply == OK ]] || refuse",
        "[[ -n $reply ]] || refuse",
        (
            _AUTHD + "test_the_script_asks_for_exactly_this_user_and_password",
            _AUTHD + "test_it_asks_our_authserver_for_each_log_in",
        ),
    ),
    Mutation(
        "any-stage-may-have-a-store",
        "lab/systems/peers/system.py",
        "if asks_ours != bool(stage.store):",
        "if False:",
        (_SYSTEMS + "test_whom_it_asks_decides_whether_a_stage_has_a_store",),
    ),
    Mutation(
        "a-server-with-its-own-accounts-needs-a-store",
        "lab/observe/limits.py",
        'for stage in stages} - {""}',
        "for stage in stages}",
        ("lab/test_no_store.NoStoreTest.test_it_needs_no_tools_of_a_store",),
    ),
    Mutation(
        "a-server-with-its-own-accounts-gets-a-store",
        "lab/plan/plan.py",
        "replace(stage, store=store) if stage.store else stage",
        "replace(stage, store=store)",
        ("lab/test_no_store.NoStoreTest.test_another_store_is_not_for_it",),
    ),
    Mutation(
        "work-of-a-session-of-two-processes-is-lost",
        "lab/observe/sampler.py",
        "        parents += children.split()",
        "",
        ("lab/test_sampler.SamplerTest.test_the_work_of_grandchildren_counts_while_they_live",),
    ),
    Mutation(
        "shared-memory-is-counted-for-each-process",
        "lab/observe/footprint.py",
        'sizes["Pss"]',
        'sizes["Rss"]',
        (_FOOTPRINT + "test_shared_memory_is_counted_once",),
    ),
)
