//! Real-looking lines of many systems, and what their level field says.

use super::*;
use crate::level::Level::{self, *};

#[track_caller]
fn check(line: &str, want: Option<Level>) {
    let mut scratch = Vec::new();
    let inner = unwrap(line.as_bytes(), None, &mut scratch);
    let found = read(inner, None).reading.map(|reading| reading.level);
    assert_eq!(found, want, "{line}");
}

fn all(lines: &[(&str, Level)]) {
    let wrong = lines.iter().filter_map(|(line, want)| {
        let mut scratch = Vec::new();
        let inner = unwrap(line.as_bytes(), None, &mut scratch);
        let found = read(inner, None).reading.map(|reading| reading.level);
        (found != Some(*want)).then(|| format!("{line}\n    wanted {want:?}, found {found:?}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn none(lines: &[&str]) {
    let wrong: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            let found = read(line.as_bytes(), None).reading.map(|reading| reading.level);
            found
                .filter(|level| *level >= Warning)
                .map(|level| format!("{line}\n    found {level:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn java_loggers() {
    all(&[
        (
            "2015-10-18 18:06:22,092 ERROR [RMCommunicator Allocator] org.apache.Foo: ERROR IN CONTACTING RM.",
            Error,
        ),
        ("2015-10-18 18:01:50,556 INFO [main] org.apache.Foo: an ERROR was seen", Info),
        (
            "2015-07-29 19:32:42,357 - WARN  [RecvWorker:188978561024:QuorumCnxManager$RecvWorker@765] - Interrupting",
            Warning,
        ),
        (
            "081110 082737 8341 WARN dfs.DataNode$DataXceiver: 10.250.19.227:50010:Got exception",
            Warning,
        ),
        ("17/06/09 20:10:41 ERROR executor.Executor: Exception in task 1.0", Error),
        ("0    [main] INFO  org.foo.Bar  - started", Info),
        ("[main] ERROR com.foo.Bar - it broke", Error),
        ("2024-01-01 12:00:00.123 ERROR 12345 --- [           main] c.e.App : it broke", Error),
        (
            "2024-01-01T12:00:00.123+01:00 ERROR 12345 --- [nio-8080-exec-1] c.e.App : it broke",
            Error,
        ),
        ("12:00:00.123 [http-nio-8080-exec-1] ERROR c.e.App - it broke", Error),
        ("12:00:00.123 [Error-Handler-1] INFO c.e.App - fine", Info),
        ("2024-01-01 12:00:00,123 main ERROR Unable to locate appender", Error),
        ("ERROR [main] 2024-01-01 12:00:00,123 CassandraDaemon.java:123 - it broke", Error),
        ("ERROR 2024-01-01 12:00:00,123 [shard 0] init - it broke", Error),
        (
            "01-Jan-2024 12:00:00.123 SEVERE [main] org.apache.catalina.core.StandardContext.startInternal x",
            Severe,
        ),
        ("SEVERE: Exception starting filter", Severe),
        ("WARNING: An illegal reflective access operation has occurred", Warning),
        (
            "[2024-01-01 12:00:00,123] ERROR [KafkaServer id=0] Fatal error (kafka.server.KafkaServer)",
            Error,
        ),
        ("[2024-01-01T12:00:00,123][ERROR][o.e.b.Bootstrap          ] [node-1] it broke", Error),
        (
            "[2024-01-01T12:00:00,123][WARN ][o.e.c.r.a.AllocationService] [node-1] it broke",
            Warning,
        ),
        (
            "2024-01-01 12:00:00.123 ERROR (qtp-12) [c:coll s:shard1] o.a.s.h.RequestHandlerBase it broke",
            Error,
        ),
        ("12:00:00,123 ERROR [org.jboss.as] (MSC service thread 1-2) it broke", Error),
        ("<Jan 1, 2024 12:00:00 AM UTC> <Error> <WebLogicServer> <BEA-000386> <it broke>", Error),
        (
            "[1/1/24 12:00:00:123 CET] 00000001 ServletWrappe E   SRVE0068E: Uncaught exception",
            Error,
        ),
        ("com.foo.Bar ERROR 12:00:00 it broke", Error),
        ("2024-01-01 12:00:00,123 com.foo.Bar [pool-1-thread-1] FATAL it broke", Fatal),
        (
            "2024-01-01 12:00:00.123+0000 [id=23]\tSEVERE\tjenkins.InitReactorRunner$1#onTaskFailed: it broke",
            Severe,
        ),
        (
            "[2024-01-01T00:00:00.000+0000] [glassfish 5.0] [SEVERE] [] [javax.enterprise] [tid: _ThreadID=1] it",
            Severe,
        ),
        ("2024-01-01 12:00:00 | ERROR | main | com.foo.Bar | it broke", Error),
        ("2024-01-01 12:00:00 | Payment Service | ERROR | it broke", Error),
        ("2024-01-01 12:00:00.1234|ERROR|MyApp.Program|it broke", Error),
    ]);
}

#[test]
fn scripting_languages() {
    all(&[
        ("2024-01-01 12:00:00,123 - my.module - ERROR - it broke", Error),
        ("2024-01-01 12:00:00,123 - Payment Service - ERROR - it broke", Error),
        ("ERROR:root:it broke", Error),
        ("ERROR:django.request:Internal Server Error: /", Error),
        ("CRITICAL:root:it broke", Critical),
        ("2024-01-01 12:00:00,123:ERROR:it broke", Error),
        ("2024-01-01 12:00:00,123:root:ERROR:it broke", Error),
        ("2024-01-01 12:00:00,123 ERROR it broke", Error),
        ("2024-01-01 12:00:00,123 [ERROR] my.module: it broke", Error),
        ("[2024-01-01 12:00:00 +0000] [123] [ERROR] Exception in worker process", Error),
        ("[2024-01-01 12:00:00,123: ERROR/MainProcess] Task x raised unexpected", Error),
        ("[E 240101 12:00:00 web:1064] it broke", Error),
        ("ERROR:    Exception in ASGI application", Error),
        ("2024-01-01 12:00:00.123 | ERROR    | __main__:<module>:1 - it broke", Error),
        ("E, [2024-01-01T12:00:00.123456 #1234] ERROR -- : it broke", Error),
        ("I, [2024-01-01T12:00:00.123456 #1234]  INFO -- app: no ERROR", Info),
        ("[2024-01-01 12:00:00] production.ERROR: it broke {\"a\":1}", Error),
        ("[2024-01-01T12:00:00.123456+00:00] app.CRITICAL: it broke [] []", Critical),
        ("[01-Jan-2024 12:00:00 UTC] PHP Fatal error:  Uncaught Error: it broke", Fatal),
        ("[01-Jan-2024 12:00:00 UTC] PHP Warning:  it broke", Warning),
        ("PHP Parse error:  syntax error, unexpected", Error),
        ("error: it broke", Error),
        ("2024-01-01T12:00:00.000Z error: it broke", Error),
        ("2024-01-01T12:00:00.000Z [api] error: it broke", Error),
        ("[12:00:00.123] ERROR (123): it broke", Error),
        ("[2024-01-01T12:00:00.000Z] ERROR: api/123 on host: it broke", Error),
        ("[Nest] 123  - 01/01/2024, 12:00:00 PM   ERROR [ExceptionsHandler] it broke", Error),
        ("npm ERR! code ELIFECYCLE", Error),
        ("npm WARN! deprecated", Warning),
        ("12:00:00.123 [error] GenServer terminating", Error),
        ("=ERROR REPORT==== 1-Jan-2024::12:00:00 ===", Error),
        ("2024-01-01 12:00:00.123 [error] <0.123.0> it broke", Error),
    ]);
}

#[test]
fn go_rust_and_dotnet() {
    all(&[
        ("E0102 15:04:05.000000     123 file.go:12] it broke", Error),
        ("F0102 15:04:05.000000     123 file.go:12] it broke", Fatal),
        ("I0102 15:04:05.000000     123 file.go:12] ERROR was fixed", Info),
        ("E240101 12:00:00.123456 123 server/node.go:12 [n1] it broke", Error),
        ("2024-01-01T12:00:00.123Z\tERROR\tlogger\tcaller/file.go:12\tit broke", Error),
        ("2024-01-01T12:00:00.123Z\terror\tcaller/file.go:12\tit broke", Error),
        ("1.7e9\terror\tcaller/file.go:12\tit broke", Error),
        ("2009/11/10 23:00:00 ERROR it broke key=val", Error),
        ("time=2024-01-01T00:00:00Z level=ERROR msg=\"it broke\"", Error),
        ("time=\"2024-01-01T00:00:00Z\" level=error msg=\"it broke\"", Error),
        ("ERRO[0003] it broke                        key=val", Error),
        ("FATA[0003] it broke", Fatal),
        ("2016-01-01 12:00:00.000000 E | rafthttp: failed to dial", Error),
        ("2024-01-01T00:00:00.000Z [ERROR] agent: it broke", Error),
        ("2024-01-01T12:00:00Z ERR it broke error=\"x\"", Error),
        ("12:00PM ERR it broke", Error),
        ("2024/01/01 12:00:00 ERRO it broke", Error),
        ("ERROR[01-01|12:00:00.123] it broke", Error),
        ("WARN [01-01|12:00:00.123] it broke", Warning),
        ("2024-01-01T00:00:00.000000Z ERROR my_crate::db: it broke", Error),
        ("2024-01-01T00:00:00.000000Z  INFO my_crate::db: ERROR", Info),
        (
            "\x1b[2m2024-01-01T00:00:00.000000Z\x1b[0m \x1b[31mERROR\x1b[0m \x1b[2mmy_crate\x1b[0m: it broke",
            Error,
        ),
        ("[2024-01-01T00:00:00Z ERROR my_crate] it broke", Error),
        ("[ERROR my_crate] it broke", Error),
        ("fail: Microsoft.AspNetCore.Server.Kestrel[13]", Error),
        ("crit: Microsoft.AspNetCore.Server.Kestrel[0]", Critical),
        ("[12:00:00 ERR] it broke", Error),
        ("[12:00:00 FTL] it broke", Fatal),
        ("2024-01-01 12:00:00.000 +01:00 [ERR] it broke", Error),
        ("2024-01-01 12:00:00,123 [1] ERROR MyApp.Program - it broke", Error),
        ("2024-01-01 12:00:00.123  ERROR  MyApp: it broke", Error),
    ]);
}

#[test]
fn servers() {
    all(&[
        ("[Sun Dec 04 20:34:25 2005] [error] mod_jk child workerEnv in error state 9\r", Error),
        ("[Sun Dec 04 04:51:14 2005] [notice] workerEnv.init() ok", Notice),
        (
            "[Wed Oct 11 14:32:52.123456 2000] [core:error] [pid 123:tid 456] [client 127.0.0.1] x",
            Error,
        ),
        ("[Wed Oct 11 14:32:52.123456 2000] [:error] [pid 123] x", Error),
        ("2024/01/01 12:00:00 [error] 123#0: *1 open() \"/x\" failed", Error),
        ("2024/01/01 12:00:00 [crit] 123#123: *1 SSL_do_handshake() failed", Critical),
        ("[2024-01-01 12:00:00.000][123][error][config] [source/x.cc:1] it broke", Error),
        (
            "2024-01-01 12:00:00.123 UTC [1234] ERROR:  relation \"x\" does not exist at character 15",
            Error,
        ),
        (
            "2024-01-01 12:00:00.123 UTC [1234] user@db FATAL:  password authentication failed",
            Fatal,
        ),
        ("2024-01-01 12:00:00 CET PANIC:  could not write", Panic),
        ("2024-01-01 12:00:00.123 UTC [1234] LOG:  ERROR: x", Info),
        ("2024-01-01 12:00:00.123 UTC [1234] STATEMENT:  SELECT ERROR", Info),
        ("2024-01-01T12:00:00.123456Z 0 [ERROR] [MY-010119] [Server] Aborting", Error),
        ("240101 12:00:00 [ERROR] mysqld: it broke", Error),
        ("2024-01-01 12:00:00 0 [Note] InnoDB: ERROR is not here", Notice),
        (
            "{\"t\":{\"$date\":\"2024-01-01T00:00:00.000+00:00\"},\"s\":\"E\",\"c\":\"NETWORK\",\"msg\":\"x\"}",
            Error,
        ),
        ("2024-01-01T12:00:00.123+0000 E NETWORK  [conn1] it broke", Error),
        ("1:M 01 Jan 2024 12:00:00.123 # Out of memory", Warning),
        ("Jan  1 12:00:00 host haproxy[123]: [ALERT] 001/120000 (123) : it broke", Alert),
        ("2024.01.01 12:00:00.123456 [ 123 ] {a-b-c} <Error> executeQuery: Code: 62", Error),
        ("[2024/01/01 12:00:00.123 +00:00] [ERROR] [server.go:12] [\"it broke\"] [key=val]", Error),
        ("[error] 2024-01-01T12:00:00.000000Z node@127.0.0.1 <0.1.0> -------- it broke", Error),
        ("01-Jan-2024 12:00:00.123 general: error: it broke", Error),
        ("Jan 01 12:00:00 imap-login: Error: it broke", Error),
        ("[Jan  1 12:00:00] ERROR[1234][C-0001]: chan_sip.c:123 func: it broke", Error),
        ("2024-01-01 12:00:00.123456 [ERR] mod_sofia.c:12 it broke", Error),
        ("2024-01-01 12:00:00,123 CRIT Supervisor is running as root", Critical),
        ("[    12.345] (EE) it broke", Error),
        ("2024-01-01 12:00:00.12 spid51      Error: 18456, Severity: 14, State: 8.", Error),
        (
            "nova-compute.log.1.2017-05-16_13:55:31 2017-05-16 00:00:04.500 2931 ERROR nova.compute.manager [-] x",
            Error,
        ),
        ("2024-01-01T12:00:00.123Z\t3f2a-11aa\tERROR\tit broke", Error),
        ("[ERROR] 2024-01-01T12:00:00.123Z 3f2a-11aa it broke", Error),
        ("[1234:5678:0101/120000.123456:ERROR:gpu_init.cc(441)] it broke", Error),
        ("time=\"2024\" at=error code=H12 desc=\"Request timeout\"", Error),
        ("level: error, message: it broke", Error),
        ("2024-01-01-12.00.00.123456+060 I1234E567          LEVEL: Error", Error),
    ]);
}

#[test]
fn supercomputers_phones_and_desktops() {
    all(&[
        (
            "- 1117838570 2005.06.03 R02-M1-N0-C:J12-U11 2005-06-03-15.42.50.363779 R02-M1-N0-C:J12-U11 RAS KERNEL INFO instruction cache parity error corrected",
            Info,
        ),
        (
            "APPREAD 1117869872 2005.06.04 R04-M1-N4-I:J18-U11 2005-06-04-00.24.32.432192 R04-M1-N4-I:J18-U11 RAS APP FATAL ciod: failed to read",
            Fatal,
        ),
        (
            "- 1118536327 2005.06.11 R30-M0-N9-C:J16-U01 2005-06-11-17.32.07.581048 R30-M0-N9-C:J16-U01 RAS KERNEL FATAL ciod",
            Fatal,
        ),
        (
            "- 1119387211 2005.06.21 NULL 2005-06-21-13.53.31.000000 NULL RAS BGLMASTER FAILURE mmcs_server exited",
            Failure,
        ),
        (
            "- 1119387211 2005.06.21 R63-M1 2005-06-21-13.53.31.000000 R63-M1 RAS HARDWARE SEVERE LinkCard power module U58",
            Severe,
        ),
        (
            "- 1119387211 2005.06.21 R63-M1 2005-06-21-13.53.31.000000 R63-M1 RAS MMCS ERROR idoproxydb hit ASSERT",
            Error,
        ),
        ("03-17 16:13:38.811  1702  2395 D WindowManager: printFreezingDisplayLogs", Debug),
        ("01-02 03:04:05.678  123  456 E Tag: it broke", Error),
        ("01-02 03:04:05.678 E/Tag(  123): it broke", Error),
        ("E/AndroidRuntime( 1234): FATAL EXCEPTION: main", Error),
        ("I/Tag: ERROR", Info),
        ("2016-09-28 04:30:31, Error                 CBS    Failed to start", Error),
        ("2016-09-28 04:30:30, Info                  CBS    Loaded Servicing Stack", Info),
        ("Error,2024-01-01 12:00:00,Service Control Manager,7000,None,\"x\"", Error),
        ("Error\t1/1/2024 12:00:00\tDisk\t11", Error),
        ("\"2024-01-01 12:00:00\",\"ERROR\",\"it broke\"", Error),
        ("2024-01-01,12:00:00,myhost,error,it broke", Error),
    ]);
}

#[test]
fn games_devices_and_hypervisors() {
    all(&[
        ("[12:00:00] [Server thread/ERROR]: it broke", Error),
        ("[12:00:00] [Server thread/INFO]: ERROR", Info),
        ("[12:00:00 ERROR]: it broke", Error),
        ("E (1234) wifi: it broke", Error),
        ("E/flutter ( 1234): it broke", Error),
        ("2024-01-01T12:00:00.123Z cpu12:34)WARNING: NMP: odd", Warning),
        ("2024-01-01T12:00:00.123+00:00 error vpxd[1234] [Originator@6876 sub=x] it broke", Error),
        ("2024-01-01T12:00:00.000Z error [context] it broke", Error),
        ("[2024-01-01 12:00:00 +0000] critical/ApiListener: it broke", Critical),
        ("(app:1234): Gtk-WARNING **: 12:00:00.123: odd", Warning),
        ("2024-01-01T12:00:00.1234567Z ##[error]it broke", Error),
        (
            "[2024-01-01 12:00:00.123456] E [MSGID: 106061] [glusterd.c:123:func] 0-management: it broke",
            Error,
        ),
        ("2024-01-01T12:00:00.123Z|00001|vlog|ERR|it broke", Error),
        (
            "2024-01-01 12:00:00.123456+0100 0x1234     Error       0x0    123    0    app: it broke",
            Error,
        ),
        (
            "01/01/2024 12:00:00.12 \tw3wp.exe (0x1234) \t0x5678\tSharePoint Foundation \tGeneral \tab12\tCritical \tit",
            Critical,
        ),
        ("date=2024-01-01 time=12:00:00 devname=x level=\"error\" vd=root", Error),
        ("2024-01-01 12:00:00 +0000 [twisted.web#error] it broke", Error),
        ("2024-01-01T12:00:00.123Z pid=123 tid=abc class=Foo jid=1 ERROR: it broke", Error),
        ("[2024-01-01 12:00:00,123] {taskinstance.py:1703} ERROR - it broke", Error),
        ("2024-01-01 12:00:00.123:WARN:oejs.Server:main: odd", Warning),
        ("2024-01-01 12:00:00,123 [salt.x       :123 ][ERROR   ][1234] it broke", Error),
        ("01-01-2024 12:00:00.123 +0000 ERROR TcpOutputProc [1 thread] - it broke", Error),
        ("2024-01-01 12:00:00,123 [   1234]  ERROR - #c.i.x - it broke", Error),
        ("2024-01-01T12:00:00.000000+00:00 app[web.1]: ERROR it broke", Error),
        ("*** ERROR: it broke", Error),
        (">>> ERROR: it broke", Error),
        ("[ERROR]: it broke", Error),
        ("2024-03-05 10:11:12.345  1234-5678  Tag      com.app    E  it broke", Error),
        ("2024-03-05 10:11:12 **ERROR** it broke", Error),
        ("Tuesday, March 5, 2024 10:11:12 AM ERROR it broke", Error),
        ("myapp[123] ERROR it broke", Error),
        ("Severity: Critical", Critical),
        ("PRIORITY=3", Error),
        ("kern.err kernel: it broke", Error),
        ("<ERROR> 2024-03-05 it broke", Error),
        ("Jul  8 05:34:31 host blued[85]: [BluetoothHIDDeviceController]ERROR: it broke", Error),
        ("<3>[12345.678901] usb 1-1: device descriptor read/64, error -110", Error),
    ]);
}

#[test]
fn syslog_lines() {
    all(&[
        ("<11>Jan  1 12:00:00 host app[1]: it broke", Error),
        ("<14>Jan  1 12:00:00 host app[1]: an ERROR was fixed", Info),
        ("<165>1 2003-10-11T22:14:15.003Z host app 1 ID47 [x@1 level=\"error\"] text", Notice),
        ("<8>1 2003-10-11T22:14:15.003Z host app - - - text", Emergency),
        ("Jan  1 12:00:00 host app[1]: ERROR it broke", Error),
        ("Jan  1 12:00:00 host app[1]: ERROR: it broke", Error),
        ("Jan  1 12:00:00 host app[1]: [error] it broke", Error),
        ("Jan  1 12:00:00 host app: 2024-01-01 12:00:00,123 ERROR my.module it broke", Error),
        ("Jan  1 12:00:00 host dockerd[1]: time=\"2024\" level=error msg=\"it broke\"", Error),
        ("Jan  1 12:00:00 host app[1]: {\"level\":\"error\",\"msg\":\"it broke\"}", Error),
        (
            "Jan  1 12:00:00 host kubelet[1]: E0102 15:04:05.000000     123 file.go:12] it broke",
            Error,
        ),
        ("Mon Jan  1 12:00:00 2024 daemon.err uhttpd[123]: it broke", Error),
        ("Jan  1 12:00:00 host local0.warning app: it broke", Warning),
        ("Jan  1 12:00:00: %LINK-3-UPDOWN: Interface Gi0/1, changed state to down", Error),
        ("2024-01-01T12:00:00+00:00 host app ERROR it broke", Error),
    ]);
}

#[test]
fn pairs_and_objects() {
    all(&[
        ("level=error ts=2024-01-01T00:00:00Z caller=main.go:12 msg=\"it broke\"", Error),
        ("ts=2024-01-01T00:00:00Z caller=main.go:12 msg=\"all ERROR gone\" level=warn", Warning),
        ("ts=2024 msg=no ERROR here level=info", Info),
        ("t=2024-01-01T00:00:00+0000 lvl=eror msg=\"it broke\"", Error),
        ("severity=CRITICAL msg=x", Critical),
        ("{\"level\":\"error\"}", Error),
        ("2024-01-01T00:00:00Z app {\"level\":\"error\",\"msg\":\"x\"}", Error),
        (
            "{\"log\":\"2024-01-01 12:00:00 ERROR it broke\\n\",\"stream\":\"stderr\",\"time\":\"2024\"}",
            Error,
        ),
        (
            "{\"log\":\"{\\\"level\\\":\\\"error\\\",\\\"msg\\\":\\\"x\\\"}\\n\",\"stream\":\"stderr\"}",
            Error,
        ),
        ("2016-10-06T00:17:09.669794202Z stderr F 2024-01-01 12:00:00 ERROR it broke", Error),
        ("web_1  | 2024-01-01 12:00:00 ERROR it broke", Error),
    ]);
}

#[test]
fn the_word_in_a_message_is_no_level() {
    none(&[
        "Dec 10 07:51:15 LabSZ sshd[24324]: error: Received disconnect from 195.154.37.122: 3: x [preauth]",
        "Dec 10 09:16:06 LabSZ sshd[24579]: pam_unix(sshd:auth): authentication failure; logname= uid=0",
        "Jun 14 15:16:01 combo kernel: ACPI: ERROR was not found",
        "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /error/500?level=error HTTP/1.0\" 500 2326",
        "127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /ERROR HTTP/1.0\" 500 2326 \"-\" \"ERROR\"",
        "GET /error/ERROR HTTP/1.1",
        "http://host/error: ERROR",
        "no error",
        "0 errors",
        "error_log is open",
        "ERROR_LOG=/var/log/x",
        "ErrorHandler started",
        "2024-01-01 12:00:00 INFO [error] x",
        "2024-01-01 12:00:00 Failed with ERROR 500",
        "2024-01-01 12:00:00 got ERROR response from upstream",
        "2024/01/01 12:00:00 error reading config: x",
        "the level: see below",
        "Severity of the ERROR is low",
        "HTTP ERROR 500",
        "A build that says ERROR",
        "[CardDAVPlugin-ERROR] -getPrincipalInfo",
        "foo.c:12:3: error: expected ';'",
        "error:0A000086:SSL routines::certificate verify failed",
        "[10.30 16:49:06] chrome.exe - proxy.cse.cuhk.edu.hk:5070 error : Could not connect through proxy",
        "118842 node-24 action error 1077273254 1 haltNode (command 1862) Error: x",
        "20171223-22:15:29:606|Step_LSC|30002312|onStandStepChanged ERROR",
        "\"error\" is a word",
        "\tat org.foo.Error.ERROR(Foo.java:12)",
        "I/O error on device",
        "2024-01-01T00:00:00Z count=3 query=\"level=error\" took=5ms",
        "E0102 is a part number",
        "Error handling is hard",
        "<error>x</error>",
        "make: *** [all] Error 2",
        "E       assert 1 == 2",
        "+ echo ERROR",
        "status: error",
        "ERROR-FREE run",
        "ERRORS=0",
        "2024-01-01 12:00:00 The ERROR was fixed",
        "2024-01-01 12:00:00 DEBUG [ERROR-handler] x",
        "2024-01-01 12:00:00 [INFO] [ERROR] x",
        "INFO: ERROR: x",
        "level=info msg=\"ERROR: level=error\"",
        "GET /api?level=error 200",
        "curl http://x/?severity=critical",
        "\"error\": \"x\",",
        "Jun 15 04:06:20 combo logrotate: ALERT exited abnormally with [1]",
        "Jan  1 12:00:00 host CRON[1]: (root) CMD (echo ERROR)",
        "Jan  1 12:00:00 host haproxy[1]: 10.0.0.1:1 [01/Jan/2024:12:00:00.000] fe be/s 0/0/1 200 1 - - \"GET /error HTTP/1.1\"",
        "type=AVC msg=audit(1704067200.123:456): avc: denied { read } for comm=\"ERROR\"",
        "[**] [1:2:3] attack [**] [Priority: 1] {TCP} 10.0.0.1",
        "2024-01-01 12:00:00 kernel EXT4-fs error (device sda1)",
        "warnings: 0, errors: 0",
        "",
        "\r",
        "[",
        "-",
        "\x1b[",
    ]);
}

#[test]
fn bytes_that_are_no_text_are_read_without_harm() {
    for length in 0..64_u8 {
        for seed in 0_u8..=255 {
            let line: Vec<u8> = (0..length)
                .map(|index| seed.wrapping_mul(31).wrapping_add(index.wrapping_mul(37)))
                .collect();
            let mut scratch = Vec::new();
            let inner = unwrap(&line, None, &mut scratch);
            read(inner, Some("a.b"));
        }
    }
    check("12:00:00 \u{2502} ERROR x", Some(Error));
}
