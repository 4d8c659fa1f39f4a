//! The ceiling of any broker: one loop between a socket and a file, with no protocol, no check and no index.
//!
//! The server takes one connection after the other. A connection's first byte tells the direction.

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use rustix::fs::sendfile;
use std::{
    fs::File,
    io::{Read, Write as _},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    time::Instant,
};

const INTO_FILE: u8 = b'w';
const FROM_FILE: u8 = b'r';
const BUFFER_BYTES: usize = 256 << 10;
const SENDFILE_BYTES: usize = 1 << 20;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Serve one file until killed
    Serve {
        #[arg(long)]
        listen: String,
        #[arg(long)]
        file: PathBuf,
    },
    /// Send bytes to be written to the file
    Send(Client),
    /// Receive the file's bytes
    Receive(Client),
}

#[derive(Args)]
pub(crate) struct Client {
    #[arg(long)]
    bootstrap: String,
    #[arg(long)]
    bytes: u64,
}

pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Serve { listen, file } => serve(listen, file),
        Command::Send(client) => send(client),
        Command::Receive(client) => receive(client),
    }
}

fn serve(listen: &str, file: &PathBuf) -> Result<()> {
    let listener = TcpListener::bind(listen)?;
    loop {
        let (mut stream, _) = listener.accept()?;
        let mut direction = [0];
        if stream.read(&mut direction)? == 0 {
            continue; // Whoever waits for the server looks in like this.
        }
        match direction[0] {
            INTO_FILE => into_file(&mut stream, &File::create(file)?)?,
            FROM_FILE => from_file(&stream, &File::open(file)?)?,
            other => bail!("an unknown direction: {other}"),
        }
    }
}

/// Ends with the client's last byte, which it answers.
fn into_file(stream: &mut TcpStream, mut file: &File) -> Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match stream.read(&mut buffer)? {
            0 => break,
            read => file.write_all(&buffer[..read])?,
        }
    }
    Ok(stream.write_all(&[INTO_FILE])?)
}

fn from_file(stream: &TcpStream, file: &File) -> Result<()> {
    let mut offset = 0;
    while sendfile(stream, file, Some(&mut offset), SENDFILE_BYTES)? > 0 {}
    Ok(())
}

fn send(client: &Client) -> Result<()> {
    let mut stream = connect(client, INTO_FILE)?;
    let buffer = vec![b'x'; BUFFER_BYTES];
    measure(|| {
        let mut sent = 0;
        while sent < client.bytes {
            stream.write_all(&buffer)?;
            sent += buffer.len() as u64;
        }
        stream.shutdown(std::net::Shutdown::Write)?;
        stream.read_exact(&mut [0])?;
        Ok(sent)
    })
}

fn receive(client: &Client) -> Result<()> {
    let mut stream = connect(client, FROM_FILE)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    measure(|| {
        let mut received = 0;
        loop {
            match stream.read(&mut buffer)? {
                0 => return Ok(received),
                read => received += read as u64,
            }
        }
    })
}

fn connect(client: &Client, direction: u8) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(&client.bootstrap).context("connect to the bare loop")?;
    stream.write_all(&[direction])?;
    Ok(stream)
}

/// Prints what a measurement of a broker prints.
fn measure(run: impl FnOnce() -> Result<u64>) -> Result<()> {
    println!("begin");
    let begun = Instant::now();
    let bytes = run()?;
    let seconds = begun.elapsed().as_secs_f64();
    let measured =
        serde_json::json!({ "requests": 1, "records": 0, "bytes": bytes, "seconds": seconds });
    println!("{measured}");
    Ok(())
}
